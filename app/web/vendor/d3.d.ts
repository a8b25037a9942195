// The types of the parts of d3 that charts use.

type Point = number[];
type Accessor = (point: Point) => number;

export interface Scale<Value> {
  (value: Value): number;
  domain(): Value[];
  domain(values: Value[]): this;
  range(): number[];
  range(values: number[]): this;
  nice(count?: number): this;
  ticks(count?: number): Value[];
}

interface Line {
  (points: Point[]): string | null;
  x(of: Accessor): this;
  y(of: Accessor): this;
  curve(kind: unknown): this;
}

interface Area {
  (points: Point[]): string | null;
  x(of: Accessor): this;
  y0(of: Accessor): this;
  y1(of: Accessor): this;
  curve(kind: unknown): this;
}

export function scaleLinear(): Scale<number>;
export function scaleLog(): Scale<number>;
export function scaleTime(): Scale<Date>;
export function scaleUtc(): Scale<Date>;
export function area(): Area;
export function line(): Line;
export const curveLinear: unknown;
export const curveStepAfter: unknown;
