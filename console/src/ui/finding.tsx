import type { ComponentChildren } from 'preact';
import { session } from '../api/session';
import { State, type Tone } from './parts';

const FOLDER = 'docs/';

/**
 * A web address, or a section of the runbook: a link where the manual is published, else
 * where it is to be read.
 */
export function Runbook({ at }: { at: string }) {
  const path = /[/]/.test(at) ? at : `${FOLDER}operate/runbook.md#${at}`;
  const manual = session.value?.links?.manual.replace(/\/+$/, '');
  if (path.startsWith(FOLDER) && !manual)
    return (
      <span class="muted small" title={path}>
        Runbook: #{path.split('#')[1]}
      </span>
    );
  const url = path.startsWith(FOLDER)
    ? `${manual}/${path.slice(FOLDER.length).replace('.md', '.html')}`
    : path;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      Runbook
      <span class="visually-hidden"> of {at.split('#').at(-1)}, in a new tab</span>
    </a>
  );
}

interface FindingProps {
  readonly name: ComponentChildren;
  readonly state?: string;
  readonly tone?: Tone;
  readonly aside?: ComponentChildren;
  readonly runbook?: string | false | undefined;
  /** Below it. */
  readonly children: ComponentChildren;
}

/** One entry of a list of things that were found. */
export const Finding = ({ name, state, tone, aside, runbook, children }: FindingProps) => (
  <li class="finding">
    <span class="inline">
      <b>{name}</b>
      {state && <State of={state} tone={tone} />}
      {aside && <span class="muted">{aside}</span>}
      {runbook && <Runbook at={runbook} />}
    </span>
    {children}
  </li>
);
