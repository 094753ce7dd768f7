"""Simulation of switches that reduce packets in windows: trees and routes, set-up, the run and its trace."""
