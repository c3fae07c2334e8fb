import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './controls';
import { relative, toMs } from './format';
import { Icon } from './icons';

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 5000);

/** Relative, with the absolute time on hover. @param at Unix seconds or ISO */
export function Time({ at }: { at: number | string | null | undefined }) {
  if (at === undefined || at === null) return <span class="muted">never</span>;
  const ms = toMs(at);
  const date = new Date(ms);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {relative(ms, now.value)}
    </time>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'idle';

/** Any other state is idle. */
const STATES: Readonly<Partial<Record<Tone, string>>> = {
  good: 'ready loaded completed added up busy ok',
  info: 'running validating in_progress loading starting finalizing connecting',
  warn: 'unloading draining cancelling cancelled expired degraded stalled restarting warning pending',
  bad: 'failed lost unresponsive suspended down unavailable exited firing',
};
const TONES = new Map(
  Object.entries(STATES).flatMap(([tone, states]) =>
    states.split(' ').map(state => [state, tone as Tone] as const),
  ),
);

/** A state in a word and a colour. */
export function State({ of, tone = TONES.get(of) ?? 'idle' }: { of: string; tone?: Tone }) {
  return <span class={`state ${tone}`}>{of.replaceAll('_', ' ')}</span>;
}

interface Parts {
  readonly title?: ComponentChildren;
  readonly children?: ComponentChildren;
}

interface PageProps extends Parts {
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

export const Page = ({ title, lead, actions, children }: PageProps) => (
  <div class="page">
    <header class="inline spread page-head">
      <div>
        <h1>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {actions && <div class="inline">{actions}</div>}
    </header>
    {children}
  </div>
);

interface CardProps extends Parts {
  readonly aside?: ComponentChildren;
  readonly class?: string;
}

export const Card = ({ title, aside, children, class: extra = '' }: CardProps) => (
  <section class={`card ${extra}`}>
    {(title ?? aside) && (
      <div class="inline spread card-head">
        {title && <h2>{title}</h2>}
        {aside && <div class="inline muted small">{aside}</div>}
      </div>
    )}
    {children}
  </section>
);

interface FigureProps {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note: ComponentChildren;
  readonly tone?: Tone | false;
}

export const Figure = ({ label, value, note, tone }: FigureProps) => (
  <div class={`figure ${tone || ''}`}>
    <dt class="muted small">{label}</dt>
    <dd>
      <b>{value}</b>
      <span class="sub muted">{note}</span>
    </dd>
  </div>
);

/** Label and value, one a line. */
export function Facts({
  of,
}: {
  of: readonly (readonly [label: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="stack facts">
      {of
        .filter(
          ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
        )
        .map(([label, value]) => (
          <div key={label}>
            <dt class="muted">{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** How much of it: a bar with a name that is read out. */
export function Bar({
  value,
  max,
  label,
  tone = '',
}: {
  value: number;
  max: number;
  label: string;
  tone?: string;
}) {
  return (
    <progress class={tone} value={value} max={Math.max(max, 1)} aria-label={label} title={label} />
  );
}

export function CopyButton({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <Button kind="quiet" act={copy}>
      <Icon name={done ? 'check' : 'copy'} size={14} /> {done ? 'Copied' : 'Copy'}
    </Button>
  );
}
