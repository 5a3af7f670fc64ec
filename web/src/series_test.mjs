import assert from "node:assert/strict";
import test from "node:test";
import {byLayer, dress, spread} from "./series.js";

const runs = dress([
  {layer: "delta_net", layer_name: "DeltaNet", range: [0, 1]},
  {layer: "mamba", layer_name: "Mamba", range: [0, 1]},
  {layer: "delta_net", layer_name: "DeltaNet", range: [-1, 1]}
]);

test("a colour for each layer, dashes for ranges without negative values", () => {
  assert.deepEqual(runs.map((run) => run.color), ["var(--series-0)", "var(--series-1)", "var(--series-0)"]);
  assert.deepEqual(runs.map((run) => run.dash), ["5 4", "5 4", null]);
});

test("groups keep the order of the runs", () => {
  assert.deepEqual(byLayer(runs).map((group) => [group.name, group.runs.length]), [["DeltaNet", 2], ["Mamba", 1]]);
});

test("labels that lie together are moved apart around their centre", () => {
  const [low, high] = spread([{y: 1, name: "a"}, {y: 1, name: "b"}], 0.1).map((label) => label.y);
  assert.ok(Math.abs(high - low - 0.1) < 1e-12);
  assert.ok(Math.abs((high + low) / 2 - 1) < 1e-12);
  assert.deepEqual(spread([{y: 1}, {y: 0}], 0.1).map((label) => label.y), [0, 1]);
});
