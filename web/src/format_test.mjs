import assert from "node:assert/strict";
import test from "node:test";
import {accuracy, count, duration, interval, lengths, list, percent, range, ranges, rate} from "./format.js";

test("accuracy has three decimals and never rounds up to perfect", () => {
  assert.equal(accuracy(1), "1.000");
  assert.equal(accuracy(0.0174), "0.017");
  assert.equal(accuracy(-0.0213), "\u22120.021");
  assert.equal(accuracy(-0.0001), "0.000");
  assert.equal(accuracy(0.9998), "0.9998");
  assert.equal(accuracy(0.99997), "0.99997");
  assert.equal(accuracy(0.9999999), "0.99999");
});

test("interval bounds are rounded outwards", () => {
  assert.equal(interval(0.99951, 1), "0.999 to 1.000");
  assert.equal(interval(-0.0123, 0.0311), "\u22120.013 to 0.032");
  assert.equal(interval(0.25, 0.75), "0.250 to 0.750");
});

test("counts, rates, durations, shares", () => {
  assert.equal(count(100000), "100,000");
  assert.equal(rate(12345.6), "12,300");
  assert.equal(duration(3.21), "3.2 s");
  assert.equal(duration(45.6), "46 s");
  assert.equal(duration(125), "2 min 5 s");
  assert.equal(duration(7260), "2 h 1 min");
  assert.equal(percent(0.4312), "43.1\u00a0%");
  assert.equal(percent(0.0001), "< 0.1\u00a0%");
  assert.equal(percent(0), "0.0\u00a0%");
});

test("ranges, lengths, lists", () => {
  assert.equal(range([-1, 1]), "[\u22121,\u00a01]");
  assert.equal(lengths([40, 256]), "40 to 256");
  assert.equal(lengths([100000, 100000]), "100,000");
  assert.equal(list(["a"]), "a");
  assert.equal(list(["a", "b"]), "a and b");
  assert.equal(list(["a", "b", "c"]), "a, b and c");
});

test("ranges inside a text get minus signs and do not break", () => {
  assert.equal(ranges("DeltaNet [-1,1] and [0, 1]"), "DeltaNet [\u22121,\u00a01] and [0,\u00a01]");
});
