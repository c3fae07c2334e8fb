import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { arrivedOf, type Counts, onQueueChange } from '../../live/queue';

type Stop = 'arrivals' | 'queue' | 'workers' | 'outcomes';

interface Dot {
  readonly model: string;
  readonly from: Stop;
  readonly to: Stop;
  readonly color: string;
  readonly startMs: number;
}

const TRAVEL_MS = 900;
/** More than these at once are a stream anyway. */
const MOST = 240;
const MOST_AT_ONCE = 12;
/** Changes come in steps; dots of one step do not leave all at once. */
const SPREAD_MS = 350;

/**
 * Draws requests that moved, from what the counts say. Nothing is drawn for those who
 * asked for less motion.
 */
export function useDots(
  box: RefObject<HTMLElement | null>,
  canvas: RefObject<HTMLCanvasElement | null>,
): void {
  useEffect(() => {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const field = new DotField(box, canvas);
    const leave = onQueueChange((model, before, after) => field.add(model, before, after));
    return () => {
      leave();
      field.stop();
    };
  }, []);
}

class DotField {
  #dots: Dot[] = [];
  #frame = 0;

  constructor(
    private readonly box: RefObject<HTMLElement | null>,
    private readonly canvas: RefObject<HTMLCanvasElement | null>,
  ) {}

  add(model: string, before: Counts, after: Counts): void {
    const grown = (name: 'completed' | 'failed' | 'cancelled') => after[name] - before[name];
    const ended = grown('completed') + grown('failed') + grown('cancelled');
    const arrived = arrivedOf(after) - arrivedOf(before);
    // What is at workers now, and what ended since, went there.
    const started = after.running - before.running + ended;
    this.#send(model, 'arrivals', 'queue', '--accent', arrived);
    this.#send(model, 'queue', 'workers', '--realtime', started);
    this.#send(model, 'workers', 'outcomes', '--good', grown('completed'));
    this.#send(model, 'workers', 'outcomes', '--bad', grown('failed') + grown('cancelled'));
    if (this.#frame === 0 && this.#dots.length > 0)
      this.#frame = requestAnimationFrame(() => this.#draw());
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#dots = [];
  }

  #send(model: string, from: Stop, to: Stop, color: string, wanted: number): void {
    const n = Math.min(wanted, MOST_AT_ONCE, MOST - this.#dots.length);
    const now = performance.now();
    for (let at = 0; at < n; at++) {
      this.#dots.push({
        model,
        from,
        to,
        color,
        startMs: now + (SPREAD_MS * (at + Math.random())) / n,
      });
    }
  }

  #draw(): void {
    const [box, canvas] = [this.box.current, this.canvas.current];
    const pen = canvas?.getContext('2d');
    this.#frame = 0;
    if (!box || !canvas || !pen || document.hidden) return void (this.#dots = []);
    const now = performance.now();
    this.#dots = this.#dots.filter(({ startMs }) => now - startMs < TRAVEL_MS);
    const frame = box.getBoundingClientRect();
    fit(canvas, pen, frame);
    const colors = getComputedStyle(document.documentElement);
    const stops = stopsIn(box);
    for (const dot of this.#dots) {
      const share = (now - dot.startMs) / TRAVEL_MS;
      const [a, b] = [stops.get(`${dot.model} ${dot.from}`), stops.get(`${dot.model} ${dot.to}`)];
      if (share < 0 || !a || !b) continue;
      const [x0, y0, x1, y1] = wayOf(a, b, frame);
      const eased = share * share * (3 - 2 * share);
      pen.globalAlpha = Math.min(1, 4 * share, 4 * (1 - share));
      pen.fillStyle = colors.getPropertyValue(dot.color);
      pen.beginPath();
      pen.arc(x0 + (x1 - x0) * eased, y0 + (y1 - y0) * eased, 3.5, 0, 7);
      pen.fill();
    }
    if (this.#dots.length > 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }
}

function fit(
  canvas: HTMLCanvasElement,
  pen: CanvasRenderingContext2D,
  { width, height }: DOMRect,
): void {
  const scale = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
}

/** Where stops are, measured once per frame. */
function stopsIn(box: HTMLElement): Map<string, DOMRect> {
  const stops = [...box.querySelectorAll<HTMLElement>('[data-model] [data-stop]')];
  const model = (stop: HTMLElement) => stop.closest<HTMLElement>('[data-model]')?.dataset.model;
  return new Map(
    stops.map(stop => [`${model(stop)} ${stop.dataset.stop}`, stop.getBoundingClientRect()]),
  );
}

/**
 * Between the facing edges; below each other on a narrow screen. @returns x and y of
 * start and end
 */
function wayOf(a: DOMRect, b: DOMRect, { left, top }: DOMRect): [number, number, number, number] {
  const [x, y] = [a.left + 10 - left, a.top + a.height / 2 - top];
  return b.left > a.left
    ? [a.right - left, y, b.left - left, y]
    : [x, a.bottom - top, x, b.top - top];
}
