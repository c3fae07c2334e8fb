import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from './theme';

export interface Line {
  readonly label: string;
  /** Name of a CSS variable. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly fill?: boolean;
}

interface Options {
  readonly title: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  readonly height?: number;
}

const colorOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Lines over time. What it shows is also said in words, for those who do not see it. */
export function Chart({ title, times, lines, format, height = 150 }: Options) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const shape = `${lines.map(({ label }) => label).join()} ${theme.value}`;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot(
      optionsOf(lines, format, height, element.clientWidth),
      dataOf(times, lines),
      element,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(times, lines)), [times, lines]);
  const words = lines.map(({ label, values }) => `${label} ${format(lastOf(values))}`).join(', ');
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <span class="inline muted small legend">
          {lines.map(({ label, color, values }) => (
            <span key={label}>
              <i class={`swatch ${color.slice(2)}`} /> {label} <b>{format(lastOf(values))}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={box} role="img" aria-label={`${title}: now ${words}`} />
    </figure>
  );
}

const lastOf = (values: readonly (number | null)[]): number =>
  values.findLast(value => value !== null) ?? 0;

const dataOf = (times: readonly number[], lines: readonly Line[]): uPlot.AlignedData =>
  [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;

function optionsOf(
  lines: readonly Line[],
  format: (value: number) => string,
  height: number,
  width: number,
): uPlot.Options {
  const axis = {
    stroke: colorOf('--muted'),
    grid: { stroke: colorOf('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  return {
    ...{ width: width || 300, height, padding: [8, 8, 0, 0], legend: { show: false } },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.15, 2)] } },
    axes: [
      {
        ...axis,
        size: 24,
        space: 70,
        incrs: MINUTES,
        values: (_plot, ticks) => ticks.map(at => clock(at)),
      },
      {
        ...axis,
        size: 58,
        space: 34,
        values: (_plot, ticks) => ticks.map(value => format(value)),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, color, fill }) => ({
        ...{ label, stroke: colorOf(color), width: 1.75, points: { show: false } },
        ...(fill && { fill: `${colorOf(color)}22` }),
      })),
    ],
  };
}

/** No label twice: it says hours and minutes. */
const MINUTES = [60, 120, 300, 600, 900, 1800, 3600];

const clock = (at: number): string =>
  new Date(at * 1000).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
  });
