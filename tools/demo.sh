#!/usr/bin/env bash
# The paper's first claim in minutes: DeltaNet and Mamba on parity, eigenvalues in [0,1] and in [-1,1]. Trains four small
# models (a second call goes on where the first one ended), tests them far beyond the training length, makes runs/demo/report.html.
set -euo pipefail
cd "$(dirname "$0")/.."
lrnn=${LRNN:-build/release/bin/lrnn}
out=${DEMO_OUT:-runs/demo}
names=(delta_net_original delta_net_extended mamba_original mamba_extended)
runs=()

for name in "${names[@]}"; do
  config=configs/demo/$name.toml run=$out/$name
  runs+=("$run")
  if [[ -e $run/config.toml ]] && ! cmp -s "$config" "$run/config.toml"; then
    echo "demo: $run was made with another configuration than $config; move it away to train again" >&2
    exit 1
  fi
  # spectrum.json is what comes last: with it the run needs nothing more.
  [[ -e $run/spectrum.json ]] && continue
  echo "$name: train on lengths 3 to 40, test on 40 to 256 and on 100,000"
  "$lrnn" train "$config" --out "$run" --resume
  "$lrnn" eval "$run"
  "$lrnn" eval "$run" --lengths 100000 --sequences 8
  "$lrnn" analyze "$run" --spectrum
done
echo
"$lrnn" report "${runs[@]}" -o "$out/report.html"
