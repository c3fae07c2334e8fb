import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
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

const TONES: Readonly<Record<string, Tone>> = {
  ...{ ready: 'good', loaded: 'good', completed: 'good', up: 'good', running: 'info', busy: 'good', ok: 'good' },
  ...{ queued: 'idle', unloaded: 'idle', idle: 'idle', unknown: 'idle', validating: 'info', in_progress: 'info' },
  ...{ loading: 'info', starting: 'info', finalizing: 'info', connecting: 'info', unloading: 'warn', draining: 'warn' },
  ...{ cancelling: 'warn', cancelled: 'warn', expired: 'warn', degraded: 'warn', stalled: 'warn', restarting: 'warn' },
  ...{ failed: 'bad', lost: 'bad', down: 'bad', unavailable: 'bad', stopped: 'idle', exited: 'bad' },
};

/** A state in a word and a colour. */
export function State({ of, tone = TONES[of] ?? 'idle' }: { of: string; tone?: Tone }) {
  return <span class={`state ${tone}`}>{of.replaceAll('_', ' ')}</span>;
}

export function Page({
  title,
  lead,
  actions,
  children,
}: {
  title: ComponentChildren;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  aside,
  children,
  class: extra = '',
}: {
  title?: ComponentChildren;
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}) {
  return (
    <section class={`card ${extra}`}>
      {(title ?? aside) && (
        <div class="card-head">
          {title && <h2>{title}</h2>}
          {aside && <div class="card-aside">{aside}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

export function Figure({
  label,
  value,
  unit,
  note,
  tone,
}: {
  label: string;
  value: ComponentChildren;
  unit?: string;
  note?: ComponentChildren;
  tone?: Tone;
}) {
  return (
    <div class={`figure ${tone ?? ''}`}>
      <dt>{label}</dt>
      <dd>
        <b>{value}</b>
        {unit && <span class="unit"> {unit}</span>}
        {note && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

/** Label and value, one a line. */
export function Facts({ of }: { of: readonly (readonly [label: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** How much of it: a bar with a name that is read out. */
export function Bar({ value, max, label, tone = '' }: { value: number; max: number; label: string; tone?: string }) {
  return <progress class={tone} value={value} max={Math.max(max, 1)} aria-label={label} title={label} />;
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      <Icon name={done ? 'check' : 'copy'} size={14} /> {done ? 'Copied' : label}
    </button>
  );
}
