"""Pictures of networks and schedules as SVG: plain text, the same bytes for the same input."""
