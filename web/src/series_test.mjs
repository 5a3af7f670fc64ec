import assert from "node:assert/strict";
import test from "node:test";
import {byLayer, dress, dressGroups, smooth, spread} from "./series.js";

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

test("a layer without a range has solid lines", () => {
  assert.equal(dress([{layer: "slstm", layer_name: "sLSTM", range: null}])[0].dash, null);
});

test("rows of an experiment: colours by model in all groups, wider lines for more of the same", () => {
  const groups = dressGroups([
    {rows: [{label: "DeltaNet [0,1], 1 layer"}, {label: "DeltaNet [0,1], 5 layers"}, {label: "Mamba [-1,1]"}]},
    {rows: [{label: "Mamba [-1,1]"}]}
  ]);
  const [one, five, mamba] = groups[0].rows;
  assert.equal(one.color, five.color);
  assert.equal(mamba.color, groups[1].rows[0].color);
  assert.notEqual(one.color, mamba.color);
  assert.deepEqual([one.dash, mamba.dash], ["5 4", null]);
  assert.ok(five.width > one.width);
  assert.equal(mamba.display, "Mamba [\u22121,\u00a01]");
});

test("smoothing takes the mean of neighbours", () => {
  assert.deepEqual(smooth([{x: 1, y: 0}, {x: 2, y: 3}, {x: 9, y: 5}], 1), [{x: 1, y: 1.5}, {x: 2, y: 1.5}, {x: 9, y: 5}]);
});
