// How a run looks in every figure: one colour for each layer type, dashes where the eigenvalues are never negative.

import {ranges} from "./format.js";

const colors = 6; // --series-0 .. --series-5 in page.css

// The runs of a report with {color, dash, solid} added.
export function dress(runs) {
  const layers = [...new Set(runs.map((run) => run.layer))];
  return runs.map((run) => {
    const solid = run.range === null || run.range[0] < 0;
    return {...run, solid, color: `var(--series-${layers.indexOf(run.layer) % colors})`, dash: solid ? null : "5 4"};
  });
}

// The groups of an experiment with {kind, display, color, dash, width} added to their rows: colours are the same in all groups, and
// models of one kind with more of it have wider lines. All of it is known from the labels: "DeltaNet [-1,1], 5 layers".
export function dressGroups(groups) {
  const kinds = [...new Set(groups.flatMap((group) => group.rows.map(kindOf)))];
  return groups.map((group) => ({
    ...group,
    rows: group.rows.map((row, i) => {
      const kind = kindOf(row);
      const before = group.rows.slice(0, i).filter((other) => kindOf(other) === kind && isDashed(other) === isDashed(row)).length;
      return {
        ...row, kind, display: ranges(row.label), color: `var(--series-${kinds.indexOf(kind) % colors})`,
        dash: isDashed(row) ? "5 4" : null, width: 2 + 1.2 * before
      };
    })
  }));
}

const kindOf = (row) => row.label.replace(/( \[|,).*/, "");
const isDashed = (row) => row.label.includes("[0,");

// The mean of the points whose x is within `reach`, at each of them.
export function smooth(points, reach) {
  return points.map(({x}) => {
    const near = points.filter((point) => Math.abs(point.x - x) <= reach);
    return {x, y: near.reduce((sum, point) => sum + point.y, 0) / near.length};
  });
}

// One group for each layer type, in the order of the runs.
export function byLayer(runs) {
  const groups = new Map();
  for (const run of runs) {
    if (!groups.has(run.layer)) groups.set(run.layer, {name: run.layer_name, color: run.color, runs: []});
    groups.get(run.layer).runs.push(run);
  }
  return [...groups.values()];
}

// Moves the labels [{y, ...}] apart until neighbours are at least `gap` from each other, keeping order and centre.
export function spread(labels, gap) {
  const sorted = labels.map((label) => ({...label})).sort((a, b) => a.y - b.y);
  const centre = mean(sorted);
  for (let i = 1; i < sorted.length; ++i) sorted[i].y = Math.max(sorted[i].y, sorted[i - 1].y + gap);
  const shift = centre - mean(sorted);
  return sorted.map((label) => ({...label, y: label.y + shift}));
}

function mean(labels) {
  return labels.reduce((sum, label) => sum + label.y, 0) / (labels.length || 1);
}
