import { Error as ERRORS, logger, parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

/** One dot: a median of several rounds, with its quartiles where there are any. */
export interface Dot {
  /** What was asked of all of them. */
  readonly scene: string;
  /** Who was asked: the line of the dot. */
  readonly way: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

/** A column of the picture, with a scale of its own. */
export interface Panel {
  /** With the unit, and which direction is better. */
  readonly title: string;
  readonly dots: readonly Dot[];
  /** For figures of many magnitudes. */
  readonly log?: boolean;
  readonly digits?: number;
}

const OURS = '#0b7a75';
const OTHERS = '#7a7f87';
const LINE_PX = 17;
const isOurs = (way: string): boolean => /^switchyard|^gateway|^here/.test(way);

/** An SVG on white: panels side by side, a line for each way, grouped by scene. */
export function dotPlot(
  title: string,
  panels: readonly Panel[],
  { panelPx = 210 } = {},
): Promise<string> {
  const spec: TopLevelSpec = {
    title: { text: title, anchor: 'start', fontSize: 15, offset: 14 },
    background: 'white',
    padding: 16,
    hconcat: panels.map((panel, at) =>
      panelSpec(panel, { panelPx, labels: at === 0 || !sameLines(panel, panels[0]!) }),
    ),
    spacing: 24,
    config: {
      aria: false,
      font: 'sans-serif',
      view: { stroke: null },
      axis: { domain: false, ticks: false, gridColor: '#e8eaed' },
    },
  };
  // It warns of scales that are each panel's own, which these are meant to be.
  return new View(parse(compile(spec, { logger: logger(ERRORS) }).spec), {
    renderer: 'none',
  }).toSVG();
}

const linesOf = ({ dots }: Panel): string =>
  dots.map(({ scene, way }) => `${scene}: ${way}`).join();
const sameLines = (panel: Panel, other: Panel): boolean => linesOf(panel) === linesOf(other);

interface Place {
  readonly panelPx: number;
  /** False: those of the first panel stand for its lines too. */
  readonly labels: boolean;
}

/** As a picture has them side by side. */
type PanelSpec = Extract<TopLevelSpec, { readonly hconcat: unknown[] }>['hconcat'][number];

function panelSpec(
  { title, dots, log = false, digits }: Panel,
  { panelPx, labels }: Place,
): PanelSpec {
  const values = dots.map(dot => ({
    ...dot,
    ...{
      end: dot.high ?? dot.value,
      ours: isOurs(dot.way),
      text: shown(dot.value, digits),
    },
  }));
  const scale = log ? ({ type: 'log', nice: false } as const) : ({ zero: true } as const);
  const grid = log ? { values: powersOfTen(dots) } : { tickCount: 4 };
  const x = {
    field: 'value',
    type: 'quantitative',
    scale,
    axis: { title: null, labels: false, ...grid },
  } as const;
  const style = {
    labelFontSize: 11,
    labelLimit: 220,
    labelPadding: 6,
    labelColor: '#30343a',
  };
  const sort = [...new Set(dots.map(({ way }) => way))];
  const y = {
    field: 'way',
    type: 'nominal',
    sort,
    axis: labels ? { title: null, ...style } : null,
  } as const;
  const color = {
    condition: { test: 'datum.ours', value: OURS },
    value: OTHERS,
  } as const;
  const scenes = [...new Set(dots.map(({ scene }) => scene))];
  const header = {
    title: null,
    labelAngle: 0,
    labelAlign: 'left',
    labelAnchor: 'start',
    labelOrient: 'top',
  } as const;
  return {
    title: { text: title, anchor: 'start', fontSize: 12, fontWeight: 'normal' },
    data: { values },
    facet: {
      row: {
        field: 'scene',
        sort: scenes,
        header: { ...header, labels, labelFontWeight: 'bold' },
      },
    },
    spacing: 10,
    spec: {
      width: panelPx,
      height: { step: LINE_PX },
      encoding: { y },
      layer: [
        {
          mark: { type: 'rule', strokeWidth: 2 },
          encoding: { x: { ...x, field: 'low' }, x2: { field: 'high' }, color },
        },
        {
          mark: { type: 'point', filled: true, size: 55, opacity: 1 },
          encoding: { x, color },
        },
        {
          mark: { type: 'text', align: 'left', dx: 8, fontSize: 10.5 },
          encoding: {
            x: { ...x, field: 'end' },
            color,
            text: { field: 'text', type: 'nominal' },
          },
        },
      ],
    },
    resolve: { scale: { y: 'independent' } },
  };
}

function powersOfTen(dots: readonly Dot[]): number[] {
  const exponents = dots.map(({ value }) => Math.log10(value));
  const [first, last] = [Math.ceil(Math.min(...exponents)), Math.floor(Math.max(...exponents))];
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

/** Three digits, or as many after the point as asked for. */
function shown(value: number, digits?: number): string {
  const places = digits ?? Math.max(0, 2 - Math.floor(Math.log10(Math.max(0.01, Math.abs(value)))));
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits ?? 0,
    maximumFractionDigits: places,
  });
}
