// Numbers as people read them: an error with two digits, rounded up. A pure module.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const grouped = (text) => {
  const [before, after] = text.split(".");
  return `${whole.format(BigInt(before))}${after ? `.${after}` : ""}`;
};

/** Return a positive number with so many significant digits, rounded up. */
export function roundUp(value, digits) {
  if (!Number.isFinite(value) || value <= 0) return value === 0 ? "0" : String(value);
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(value)));
  if (places > 9 || value >= 1e15) return value.toExponential(digits - 1);
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - digits + 1);
  const scaled = places > 0 ? value * 10 ** places : value / unit;
  const up = Math.ceil(Number(scaled.toPrecision(12))); // a double such as 5.000000000001 is 5
  const text = places > 0 ? (up / 10 ** places).toFixed(places) : String(up * unit);
  return grouped(text.includes(".") ? text.replace(/\.?0+$/, "") : text);
}

/** Return the error of an answer for reading. */
export const errorText = (radius) => roundUp(radius, 2);

/** Return a share for reading, such as "0.3 %". */
export function percent(share) {
  if (share >= 0.995) return "100 %";
  return `${Number((100 * share).toPrecision(share < 0.1 ? 1 : 2))} %`;
}
