// Numbers as text, the same everywhere on the page.

const minus = (text) => text.replace("-", "\u2212");

// Three decimals, as in the paper; more where three would call an imperfect result "1.000".
export function accuracy(value) {
  for (let digits = 3; digits < 6; ++digits) {
    const text = value.toFixed(digits);
    if (value >= 1 || Number(text) < 1) return unsigned(text);
  }
  return "0.99999";
}

// Bounds are rounded outwards: an interval is never shown narrower than it is.
export function interval(low, high) {
  const down = Math.floor(low * 1000 + 1e-9) / 1000;
  const up = Math.ceil(high * 1000 - 1e-9) / 1000;
  return `${unsigned(down.toFixed(3))} to ${unsigned(up.toFixed(3))}`;
}

function unsigned(text) {
  return minus(text === "-0.000" ? "0.000" : text);
}

export const count = (value) => Math.round(value).toLocaleString("en-US");

// Three significant digits: 12,345.6 -> 12,300
export function rate(value) {
  return count(Number(value.toPrecision(3)));
}

export function duration(seconds) {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const percent = (share) => {
  const text = (100 * share).toFixed(1);
  if (share > 0 && text === "0.0") return "< 0.1\u00a0%";
  return `${text}\u00a0%`;
};

// [-1, 1] with a minus sign and a space that does not break
export const range = ([low, high]) => `[${minus(String(low))},\u00a0${minus(String(high))}]`;

// The same for every range inside a text.
export const ranges = (text) => text.replace(/\[-?[\d.]+, ?-?[\d.]+\]/g, (found) => range(JSON.parse(found)));

export const lengths = ([low, high]) => (low === high ? count(low) : `${count(low)} to ${count(high)}`);

export function list(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
