import { parse, View } from 'vega';
import { compile } from 'vega-lite';

/** What several have of one thing over time, one above the other. */
export interface Areas {
  /** Seconds. */
  readonly times: readonly number[];
  /** What each of them has at these times, by its name. */
  readonly parts: Readonly<Record<string, readonly number[]>>;
  /** All of it: a line. */
  readonly whole: { readonly value: number; readonly text: string };
  /** Events, at their second. */
  readonly marks: readonly { readonly second: number; readonly text: string }[];
}

const COLORS = ['#0b7a75', '#4fa8a3', '#d08c3c', '#7a7f87'];
const INK = '#30343a';

/** An SVG on white: areas in steps, the first at the bottom. */
export function areaPlot(title: string, { times, parts, whole, marks }: Areas): Promise<string> {
  const names = Object.keys(parts);
  const values = names.flatMap((name, layer) =>
    times.map((second, at) => ({ second, name, layer, value: parts[name]![at] ?? 0 })),
  );
  const x = { field: 'second', type: 'quantitative' } as const;
  const y = { field: 'value', type: 'quantitative' } as const;
  const top = { y: { value: 0 } } as const;
  const { spec } = compile({
    title: { text: title, anchor: 'start', fontSize: 15, offset: 14 },
    background: 'white',
    padding: 16,
    width: 640,
    height: 200,
    layer: [
      {
        data: { values },
        mark: { type: 'area', interpolate: 'step-after' },
        encoding: {
          x: { ...x, axis: { title: 'seconds', grid: false } },
          y: { ...y, stack: 'zero', axis: { title: null, tickCount: 4 } },
          color: {
            ...{ field: 'name', type: 'nominal' },
            scale: { domain: names, range: COLORS },
            legend: { title: null, symbolType: 'square' },
          },
          order: { field: 'layer' },
        },
      },
      {
        data: { values: [whole] },
        mark: { type: 'rule', strokeDash: [5, 4], color: INK },
        encoding: { y },
      },
      {
        data: { values: [{ ...whole, second: times.at(-1) }] },
        mark: { type: 'text', align: 'right', dy: -7, fontSize: 11, color: INK },
        encoding: { x, y, text: { field: 'text' } },
      },
      {
        data: { values: [...marks] },
        mark: { type: 'rule', strokeWidth: 2, color: '#b3261e' },
        encoding: { x },
      },
      {
        data: { values: [...marks] },
        mark: { type: 'text', dy: -7, fontSize: 11, color: '#b3261e' },
        encoding: { x, ...top, text: { field: 'text' } },
      },
    ],
    config: {
      aria: false,
      font: 'sans-serif',
      view: { stroke: null },
      axis: { domain: false, ticks: false, gridColor: '#e8eaed' },
    },
  });
  return new View(parse(spec), { renderer: 'none' }).toSVG();
}
