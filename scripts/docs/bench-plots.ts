import { existsSync, readFileSync } from 'node:fs';
import { areaPlot } from './area-plot.js';
import { type Dot, dotPlot, type Panel } from './dot-plot.js';

type Quartiles = Readonly<Record<'p25' | 'p50' | 'p75', number>>;
/** By scene, contestant and figure. */
type Table = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, Quartiles>>>>>
>;

interface Plot {
  readonly title: string;
  panels(results: never): readonly Panel[];
  readonly panelPx?: number;
}

/** A picture of a bench, and the page that shows it. */
interface Picture {
  readonly page: string;
  svg(results: never): Promise<string>;
}

const BENCHMARKS = 'docs/explain/benchmarks.md';

const dotOf = (scene: string, way: string, { p25, p50, p75 }: Quartiles): Dot => ({
  ...{ scene, way, value: p50 },
  ...(p75 > p25 && { low: p25, high: p75 }),
});

/** That figure of everybody in these scenes; absent where it was not measured. */
const dots = (
  table: Table,
  figure: string,
  scenes: readonly string[],
  names: (scene: string) => string = same,
): Dot[] =>
  scenes.flatMap(scene =>
    Object.entries(table[scene] ?? {}).flatMap(([way, figures]) => {
      const quartiles = figures[figure];
      return quartiles === undefined ? [] : [dotOf(names(scene), way, quartiles)];
    }),
  );

const same = (text: string): string => text;

const PLOTS: Readonly<Record<string, Plot>> = {
  league: {
    title: 'A chat through a gateway to an upstream that computes nothing (medians, quartiles)',
    panels: ({ table }: { table: Table }) => {
      const scenes = Object.keys(table);
      const measured = Object.fromEntries(
        scenes.map(scene => [scene, without(table[scene]!, 'direct')]),
      );
      return [
        {
          title: 'requests/s (more is better)',
          dots: dots(measured, 'perS', scenes),
          log: true,
        },
        {
          title: 'p99, ms (less is better)',
          dots: dots(measured, 'p99Ms', scenes),
          log: true,
        },
        {
          title: 'CPU ms per request (less is better)',
          dots: dots(measured, 'cpuMs', scenes),
          log: true,
        },
        {
          title: 'resident memory, MiB',
          dots: dots(measured, 'rssMib', scenes),
          digits: 0,
        },
      ];
    },
  },
  'league-batching': {
    title: 'Dynamic batching of one device: 20 ms for up to 8 (medians, quartiles)',
    panelPx: 300,
    panels: ({ table }: { table: Table }) => {
      const callers = [1, 8, 16, 64, 512].map(count => `20 ms, c=${count}`);
      const waits = ['load 50 %', 'load 90 %', 'urgent beside 1,000 queued'];
      const useful = dots(table, 'goodput', ['5 x overload'], scene => `${scene}: answers in time`);
      const answered = dots(
        table,
        'answeredMs',
        ['after 256 hung up'],
        scene => `${scene}: the next answer`,
      );
      const late = dots(table, 'p99Ms', waits, scene => `${scene}: p99`);
      return [
        {
          title: 'of what the device can do (more is better)',
          dots: [...dots(table, 'fraction', callers), ...useful],
          digits: 2,
        },
        {
          title: 'milliseconds (less is better)',
          dots: [...late, ...answered],
          log: true,
          digits: 0,
        },
      ];
    },
  },
  'league-jobs': {
    title:
      'A batch job of chats to an upstream that computes nothing, 64 lines in flight (medians, quartiles)',
    panels: ({ table, killed, lines }: JobResults) => {
      const scene = `${lines.toLocaleString('en-US')} lines`;
      const of = (figure: string): Dot[] =>
        Object.entries(table).map(([way, figures]) => dotOf(scene, way, figures[figure]!));
      const redone = Object.entries(killed).map(([way, { redone: value }]) => ({
        scene: 'kill -9 half way',
        way,
        value,
      }));
      return [
        { title: 'lines/s (more is better)', dots: of('linesPerS'), digits: 0 },
        { title: 'CPU ms per line (less)', dots: of('cpuMs'), digits: 2 },
        { title: 'peak memory, MiB (less)', dots: of('peakMib'), digits: 0 },
        { title: 'lines redone (less)', dots: redone, digits: 0 },
      ];
    },
  },
  whisper: {
    title: 'Whisper base, the same random weights, two threads (medians, quartiles)',
    panelPx: 300,
    panels: ({ audioSecondsPerS, rssMib }: WhisperResults) => {
      const of = (ways: Readonly<Record<string, Quartiles>>): Dot[] =>
        Object.entries(ways).map(([way, quartiles]) => dotOf('clips of 5 s', way, quartiles));
      return [
        {
          title: 'audio seconds per second (more is better)',
          dots: of(audioSecondsPerS),
          digits: 1,
        },
        { title: 'resident memory, MiB (less is better)', dots: of(rssMib), digits: 0 },
      ];
    },
  },
};

const OF_DOTS = Object.entries(PLOTS).map(
  ([name, { title, panels, panelPx }]): [string, Picture] => [
    name,
    {
      page: BENCHMARKS,
      svg: results => dotPlot(title, panels(results), { ...(panelPx && { panelPx }) }),
    },
  ],
);

const PICTURES: Readonly<Record<string, Picture>> = {
  ...Object.fromEntries(OF_DOTS),
  'scale-out': {
    page: 'docs/operate/scale-out.md',
    svg: ({ slots, kills }: ScaleOutResults) =>
      areaPlot('Chats at one server, of four gateways; two are killed', {
        times: kills.times,
        parts: Object.fromEntries(kills.slots.map((part, at) => [`gateway ${at + 1}`, part])),
        whole: { value: slots, text: `${slots} slots` },
        marks: kills.killsS.map(second => ({ second, text: 'kill -9' })),
      }),
  },
};

interface ScaleOutResults {
  readonly slots: number;
  readonly kills: {
    readonly times: readonly number[];
    readonly killsS: readonly number[];
    /** By gateway. */
    readonly slots: readonly (readonly number[])[];
  };
}

interface JobResults {
  readonly lines: number;
  readonly table: Readonly<Record<string, Readonly<Record<string, Quartiles>>>>;
  readonly killed: Readonly<Record<string, { readonly redone: number }>>;
}

type WhisperResults = Readonly<
  Record<'audioSecondsPerS' | 'rssMib', Readonly<Record<string, Quartiles>>>
>;

function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

/** The pictures of the benches whose results are kept, and their pages. */
export async function benchPlots(): Promise<
  readonly { readonly file: string; readonly page: string; readonly svg: string }[]
> {
  const kept = Object.entries(PICTURES).filter(([name]) => existsSync(resultsOf(name)));
  return Promise.all(
    kept.map(async ([name, picture]) => {
      const { results } = JSON.parse(readFileSync(resultsOf(name), 'utf8')) as {
        results: never;
      };
      const svg = await picture.svg(results);
      return { file: `docs/images/bench-${name}.svg`, page: picture.page, svg: `${svg}\n` };
    }),
  );
}

const resultsOf = (name: string): string => `test/bench/results/${name}.json`;
