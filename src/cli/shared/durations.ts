/** 45 s, 12 min 5 s, 3 h 20 min; a dash while unknown. */
export function durationText(seconds: number | null): string {
  if (seconds === null) return '-';
  const [hours, minutes] = [
    Math.floor(seconds / 3600),
    Math.floor((seconds % 3600) / 60),
  ];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** 0.4 ms, 12 ms, 1.25 s, 12 min 5 s; a dash while unknown. */
export function msText(ms: number | null | undefined): string {
  if (ms === undefined || ms === null) return '-';
  if (ms >= 60_000) return durationText(Math.round(ms / 1000));
  return ms >= 1000
    ? `${(ms / 1000).toFixed(2)} s`
    : `${ms >= 10 ? Math.round(ms) : Number(ms.toFixed(1))} ms`;
}
