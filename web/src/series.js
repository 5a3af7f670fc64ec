// How a run looks in every figure: one colour for each layer type, dashes where the eigenvalues are never negative.

const colors = 6; // --series-0 .. --series-5 in page.css

// The runs of a report with {color, dash, solid} added.
export function dress(runs) {
  const layers = [...new Set(runs.map((run) => run.layer))];
  return runs.map((run) => {
    const solid = run.range[0] < 0;
    return {...run, solid, color: `var(--series-${layers.indexOf(run.layer) % colors})`, dash: solid ? null : "5 4"};
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
