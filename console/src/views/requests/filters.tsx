import { useComputed } from '@preact/signals';
import { queue } from '../../live/queue';
import type { Choice } from './requests';

const STATES = [
  ['', 'Waiting and running'],
  ['queued', 'Waiting'],
  ['running', 'Running'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
  ['cancelled', 'Cancelled'],
] as const;

const AGES = [
  ['', 'Any'],
  ['1000', 'Over 1 s'],
  ['10000', 'Over 10 s'],
  ['60000', 'Over 1 min'],
  ['600000', 'Over 10 min'],
] as const;

const PRIORITIES = [
  ['', 'Any'],
  ['realtime', 'Realtime'],
  ['batch', 'Batch'],
] as const;

interface Options {
  readonly of: Choice;
  readonly onChange: (changes: Partial<Choice>) => void;
}

export function Filters({ of: choice, onChange }: Options) {
  const models = useComputed(() => [...queue.value.keys()].sort());
  const known: readonly (readonly [string, string])[] = [
    ['', 'Any'],
    ...[...new Set([...models.value, ...(choice.model ? [choice.model] : [])])].map(id => [id, id] as const),
  ];
  const text = (field: keyof Choice, label: string, list?: string) => (
    <label class="field">
      {label}
      <input
        type="search"
        value={choice[field]}
        list={list}
        onChange={event => onChange({ [field]: event.currentTarget.value.trim() })}
      />
    </label>
  );
  const select = (field: keyof Choice, label: string, options: readonly (readonly [string, string])[]) => (
    <label class="field">
      {label}
      <select value={choice[field]} onChange={event => onChange({ [field]: event.currentTarget.value })}>
        {options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <form class="filters" role="search" aria-label="Requests" onSubmit={event => event.preventDefault()}>
      {select('state', 'State', STATES)}
      {text('search', 'Part of its id')}
      {select('model', 'Model', known)}
      {text('tenant', 'Tenant')}
      {select('priority', 'Priority', PRIORITIES)}
      {select('min_wait_ms', 'Waited', AGES)}
      {text('code', 'Error code', 'error-codes')}
    </form>
  );
}
