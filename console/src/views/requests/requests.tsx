import { useComputed, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { get, post } from '../../api/client';
import { useResource } from '../../api/resource';
import { go, href, place } from '../../router';
import { attempt, attemptConfirmed } from '../../ui/actions';
import { Button } from '../../ui/controls';
import { count, duration, plural } from '../../ui/format';
import { Card, Page, State, Time } from '../../ui/parts';
import { Blank, Problem } from '../../ui/states';
import { VirtualRows } from '../../ui/virtual-rows';
import { Filters } from './filters';
import { PAGE, RequestPages, type Row } from './request-pages';

const FIELDS = ['state', 'search', 'model', 'tenant', 'priority', 'min_wait_ms', 'code'] as const;
type Field = (typeof FIELDS)[number];
export type Choice = Readonly<Record<Field, string>>;

/** The filters are the address: a filtered list can be bookmarked and sent. */
const choiceOf = (query: URLSearchParams): Choice =>
  Object.fromEntries(FIELDS.map(field => [field, query.get(field) ?? ''])) as Choice;

export function Requests() {
  const choice = choiceOf(place.value.query);
  const key = JSON.stringify(choice);
  const set = (changes: Partial<Choice>) =>
    go(href('requests', undefined, { ...choice, ...changes }), { replace: true });
  return (
    <Page
      title="Requests"
      lead="Queued requests in scheduling order, then running ones. Ended ones are kept for a while."
    >
      <Filters of={choice} onChange={set} />
      <List key={key} choice={choice} />
    </Page>
  );
}

function List({ choice }: { choice: Choice }) {
  const pages = useComputed(() => new RequestPages()).value;
  const seen = useSignal('0 0');
  const chosen = useSignal<ReadonlyMap<string, Row>>(new Map());
  const list = useResource(
    signal =>
      pages.load(seen.value.split(' ').map(Number), offset =>
        get('/admin/v1/requests', { query: { ...choice, limit: PAGE, offset }, signal }),
      ),
    seen.value,
    1500,
  );
  const total = pages.total;
  const toggle = (row: Row) => {
    const next = new Map(chosen.value);
    if (!next.delete(keyOf(row))) next.set(keyOf(row), row);
    chosen.value = next;
  };
  if (list.error && total === undefined) return <Problem error={list.error} retry={list.reload} />;
  return (
    <Card>
      <Toolbar
        choice={choice}
        total={total}
        chosen={[...chosen.value.values()]}
        done={() => {
          chosen.value = new Map();
          list.reload();
        }}
      />
      {total === 0 ? (
        <Blank icon="requests" title="No request matches">
          {Object.values(choice).some(Boolean)
            ? 'Change or clear the filters.'
            : 'Nothing is queued or running.'}
        </Blank>
      ) : (
        <VirtualRows
          label="Requests"
          total={total ?? 0}
          rowHeight={46}
          columns={10}
          onRange={(first, last) => (seen.value = `${pages.pageOf(first)} ${pages.pageOf(last)}`)}
          head={<Head />}
          row={index => <Cells of={pages.row(index)} chosen={chosen.value} toggle={toggle} />}
        />
      )}
    </Card>
  );
}

const keyOf = ({ tenant = '', request_id: id }: Row): string => `${tenant} ${id}`;

interface ToolbarProps {
  readonly choice: Choice;
  readonly total: number | undefined;
  readonly chosen: readonly Row[];
  readonly done: () => void;
}

function Toolbar({ choice, total, chosen, done }: ToolbarProps) {
  const them = plural(chosen.length, 'request');
  const each = (act: (row: Row) => Promise<unknown>) => () => Promise.all(chosen.map(act));
  const priority = (to: 'realtime' | 'batch') => async () => {
    await attempt(
      each(row => setPriority(row, to)),
      `${them} made ${to}.`,
    );
    done();
  };
  const cancel = async () => {
    const question = [
      `Cancel ${them}?`,
      'Their clients get an error at once.',
      'Cancel them',
    ] as const;
    if (await attemptConfirmed(question, each(cancelOne), `${them} cancelled.`)) done();
  };
  return (
    <div class="inline spread toolbar">
      <span role="status">
        {total === undefined ? 'Loading' : plural(total, 'request')}
        {chosen.length > 0 && `, ${count(chosen.length)} chosen`}
      </span>
      <div class="inline">
        {chosen.length > 0 ? (
          <>
            <Button act={priority('realtime')}>Make realtime</Button>
            <Button act={priority('batch')}>Make batch</Button>
            <Button kind="danger" act={cancel}>
              Cancel chosen
            </Button>
          </>
        ) : (
          <CancelAll choice={choice} total={total ?? 0} done={done} />
        )}
      </div>
    </div>
  );
}

/**
 * By the filters that the server itself understands; the others name single requests,
 * which are chosen one by one.
 */
function CancelAll({ choice, total, done }: { choice: Choice; total: number; done: () => void }) {
  const { state, model, tenant, priority, search, min_wait_ms: waited, code } = choice;
  const filter = Object.fromEntries(
    Object.entries({ state, model, tenant, priority }).filter(([, value]) => value),
  );
  if (!['', 'queued', 'running'].includes(state) || total === 0 || search || waited || code)
    return null;
  const act = async () => {
    const names = Object.entries(filter).map(([name, value]) => `${name} ${value}`);
    const text = `All requests of ${names.join(', ') || 'every tenant and model'}. Their clients get an error.`;
    const body = names.length > 0 ? filter : { all: true };
    let cancelled = 0;
    await attemptConfirmed(
      [`Cancel all ${count(total)}?`, text, 'Cancel all'],
      async () =>
        void (cancelled = (await post('/admin/v1/requests/cancel', { body })).cancelled.length),
      () => `${plural(cancelled, 'request')} cancelled.`,
    );
    done();
  };
  return (
    <Button kind="danger" act={act}>
      Cancel all that match
    </Button>
  );
}

const tenantOf = ({ tenant }: Row) => ({ tenant });

export const cancelOne = (row: Row): Promise<unknown> =>
  post('/admin/v1/requests/{id}/cancel', { id: row.request_id, query: tenantOf(row) });

export const setPriority = (row: Row, priority: 'realtime' | 'batch'): Promise<unknown> =>
  post('/admin/v1/requests/{id}/priority', {
    id: row.request_id,
    query: tenantOf(row),
    body: { priority },
  });

const isLive = ({ state }: Row): boolean => state === 'queued' || state === 'running';

const WAITS_FOR = {
  ...{
    device: 'its model is to be loaded',
    worker: 'no worker is ready',
    slot: 'all slots in use',
    window: 'batch window',
    turn: 'others are ahead',
  },
} as const;

/** Name, content, and the whole text where a cell may be too narrow for it. */
const COLUMNS: readonly (readonly [
  name: string,
  cell: (row: Row) => ComponentChildren,
  whole?: keyof Row,
])[] = [
  [
    'Request',
    ({ request_id: id, tenant = '' }) => (
      <a class="mono" href={href('requests', id, { tenant })}>
        {id}
      </a>
    ),
    'request_id',
  ],
  [
    'State',
    ({ state, position }) => (
      <>
        <State of={state} />
        {position !== undefined && <span class="muted"> #{count(position)}</span>}
      </>
    ),
  ],
  [
    'Priority',
    ({ priority, aged }) => (
      <span class={`tag ${priority}`}>{aged ? `${priority}, aged` : priority}</span>
    ),
  ],
  ['Model', ({ model = 'unknown' }) => model, 'model'],
  ['Tenant', ({ tenant = '' }) => tenant, 'tenant'],
  ['Route', ({ endpoint = '' }) => <span class="muted">{endpoint}</span>, 'endpoint'],
  ['Received', ({ created_at: at }) => at !== undefined && <Time at={at} />],
  ['Waited', ({ waited_ms: waited }) => duration(waited)],
  [
    'Detail',
    row => (
      <span class="muted">
        {row.code ?? (row.waits_for ? WAITS_FOR[row.waits_for] : (row.worker ?? ''))}
      </span>
    ),
    'explanation',
  ],
];

const Head = () => (
  <>
    <span role="columnheader">
      <span class="visually-hidden">Choose</span>
    </span>
    {COLUMNS.map(([name]) => (
      <span key={name} role="columnheader" class={`c-${name.toLowerCase()}`}>
        {name}
      </span>
    ))}
  </>
);

interface CellsProps {
  readonly of: Row | undefined;
  readonly chosen: ReadonlyMap<string, Row>;
  readonly toggle: (row: Row) => void;
}

function Cells({ of: row, chosen, toggle }: CellsProps) {
  if (!row)
    return (
      <span role="cell" class="c-request muted">
        Loading
      </span>
    );
  return (
    <>
      <span role="cell" class="c-choose">
        <input
          type="checkbox"
          aria-label={`Choose ${row.request_id}`}
          disabled={!isLive(row)}
          checked={chosen.has(keyOf(row))}
          onChange={() => toggle(row)}
        />
      </span>
      {COLUMNS.map(([name, cell, whole]) => (
        <span
          key={name}
          role="cell"
          class={`c-${name.toLowerCase()}`}
          title={whole && String(row[whole] ?? '')}
        >
          {cell(row)}
        </span>
      ))}
    </>
  );
}
