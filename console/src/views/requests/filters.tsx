import { useComputed } from '@preact/signals';
import { queue } from '../../live/queue';
import { Field, type Option, Select } from '../../ui/controls';
import type { Choice } from './requests';

const STATES = [
  ['', 'Active'],
  ['queued', 'Queued'],
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

/** Codes that requests commonly end with; any other can be typed. */
const CODES = [
  ...[
    'deadline_missed',
    'engine_failed',
    'inference_timeout',
    'queue_timeout',
    'request_cancelled',
    'worker_lost',
  ],
  ...['no_worker', 'model_unloaded', 'shutting_down'],
];

interface Options {
  readonly of: Choice;
  readonly onChange: (changes: Partial<Choice>) => void;
}

export function Filters({ of: choice, onChange }: Options) {
  // A text, so that new counts of the same models draw nothing.
  const models = useComputed(() => [...queue.value.keys()].sort().join('\n')).value;
  const known: readonly Option[] = [
    ['', 'Any'],
    ...new Set([...models.split('\n'), choice.model].filter(Boolean)),
  ];
  const text = (field: keyof Choice, label: string, list?: string) => (
    <Field label={label}>
      <input
        type="search"
        value={choice[field]}
        list={list}
        onChange={event => onChange({ [field]: event.currentTarget.value.trim() })}
      />
    </Field>
  );
  const select = (field: keyof Choice, label: string, options: readonly Option[]) => (
    <Select
      label={label}
      value={choice[field]}
      of={options}
      onChange={value => onChange({ [field]: value })}
    />
  );
  return (
    <form
      class="filters"
      role="search"
      aria-label="Requests"
      onSubmit={event => event.preventDefault()}
    >
      {select('state', 'State', STATES)}
      {text('search', 'Id contains')}
      {select('model', 'Model', known)}
      {text('tenant', 'Tenant')}
      {select('priority', 'Priority', PRIORITIES)}
      {select('min_wait_ms', 'Waited', AGES)}
      {text('code', 'Error code', 'error-codes')}
      <datalist id="error-codes">
        {CODES.map(code => (
          <option key={code} value={code} />
        ))}
      </datalist>
    </form>
  );
}
