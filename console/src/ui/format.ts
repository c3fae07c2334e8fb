const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const ONE = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const SHORT = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumFractionDigits: 1,
});

export const count = (value: number): string => NUMBER.format(value);
export const compact = (value: number): string =>
  value < 10_000 ? NUMBER.format(value) : SHORT.format(value);
export const perSecond = (value: number): string =>
  `${value < 10 ? ONE.format(value) : NUMBER.format(value)}/s`;
export const percent = (share: number): string => `${NUMBER.format(share * 100)} %`;

/** `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  if (ms === 0) return '0 s';
  if (ms < 1) return `${ONE.format(ms)} ms`;
  if (ms < 1000) return `${NUMBER.format(ms)} ms`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${ONE.format(ms / 1000)} s`;
  if (s < 3600) return two(s, 'min', 60, 's', 1);
  return s < 86_400 ? two(s, 'h', 3600, 'min', 60) : two(s, 'd', 86_400, 'h', 3600);
}

function two(s: number, major: string, majorS: number, minor: string, minorS: number): string {
  const rest = Math.floor((s % majorS) / minorS);
  return `${Math.floor(s / majorS)} ${major}${rest > 0 ? ` ${rest} ${minor}` : ''}`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(
    units.length - 1,
    Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)),
  );
  return `${ONE.format(value / 1024 ** step)} ${units[step]}`;
}

/** @param at Unix seconds or an ISO time */
export const toMs = (at: number | string): number =>
  typeof at === 'number' ? at * 1000 : Date.parse(at);

export function relative(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (Math.abs(ms) < 5000) return 'just now';
  return ms >= 0 ? `${duration(coarse(ms))} ago` : `in ${duration(coarse(-ms))}`;
}

/** Without seconds from an hour on. */
const coarse = (ms: number): number => {
  if (ms < 60_000) return Math.round(ms / 1000) * 1000;
  return ms < 3_600_000 ? Math.round(ms / 60_000) * 60_000 : Math.round(ms / 3_600_000) * 3_600_000;
};

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;
