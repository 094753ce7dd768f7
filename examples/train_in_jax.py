"""Data-parallel training in JAX on 16 CPU devices: gradients are added over a damaged torus by a schedule, and by psum."""

import os
from runpy import run_path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=16"  # before JAX starts

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

import certree.api as ct

DEVICES, STEPS, RATE = 16, 30, 0.1


def loss(weights, x, y):
    """The mean squared error of a network with one hidden layer."""
    hidden = jnp.tanh(x @ weights["in"])
    return ((hidden @ weights["out"] - y) ** 2).mean()


def train(all_reduce, mesh, weights, x, y):
    """The weights after some steps, and the loss of each. `all_reduce`: adds an array over the devices."""

    def step(weights, x, y):
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        flat, shape = ravel_pytree((gradients, value))
        gradients, value = shape(all_reduce(flat) / DEVICES)
        return jax.tree.map(lambda weight, gradient: weight - RATE * gradient, weights, gradients), value

    spec = P("data")
    run = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(P(), spec, spec), out_specs=(P(), P()), check_vma=False))
    losses = []
    for _ in range(STEPS):
        weights, value = run(weights, x, y)
        losses.append(float(value))
    return weights, losses


if __name__ == "__main__":
    schedule = ct.synthesize("torus:4x4,without-link=0-1", method="multitree")
    ct.export_program(schedule, "jax", "damaged_torus.py", force=True)
    all_reduce = run_path("damaged_torus.py")["all_reduce"]
    mesh = Mesh(jax.devices()[:DEVICES], ("data",))
    keys = jax.random.split(jax.random.key(0), 3)
    weights = {"in": jax.random.normal(keys[0], (8, 32)) / 3, "out": jax.random.normal(keys[1], (32, 1)) / 6}
    x = jax.random.normal(keys[2], (DEVICES * 64, 8))
    y = jnp.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]
    ours, losses = train(lambda flat: all_reduce(flat, "data"), mesh, weights, x, y)
    own, own_losses = train(lambda flat: jax.lax.psum(flat, "data"), mesh, weights, x, y)
    apart = max(float(jnp.abs(ours[name] - own[name]).max()) for name in ours)
    print(f"loss {losses[0]:.3f} to {losses[-1]:.3f} over the damaged torus, {own_losses[0]:.3f} to {own_losses[-1]:.3f} with psum")
    if not apart < 1e-4:
        raise SystemExit(f"the weights differ by {apart:.3g}")
    print("weights differ by less than 0.0001: True")
