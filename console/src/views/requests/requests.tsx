import { useComputed, useSignal } from '@preact/signals';
import { get, post } from '../../api/client';
import { useResource } from '../../api/resource';
import { go, href, place } from '../../router';
import { attempt, confirmed } from '../../ui/actions';
import { count, duration, plural } from '../../ui/format';
import { Card, Page, State } from '../../ui/parts';
import { Blank, Problem } from '../../ui/states';
import { VirtualRows } from '../../ui/virtual-rows';
import { ErrorCodes } from './error-codes';
import { Filters } from './filters';
import { PAGE, RequestPages, type Row } from './request-pages';

const FIELDS = ['state', 'search', 'model', 'tenant', 'priority', 'min_wait_ms', 'code'] as const;
type Field = (typeof FIELDS)[number];
export type Choice = Readonly<Record<Field, string>>;

/** The filters are the address: a filtered list can be bookmarked and sent. */
const choiceOf = (query: URLSearchParams): Choice =>
  Object.fromEntries(FIELDS.map(field => [field, query.get(field) ?? ''])) as Choice;

export default function Requests() {
  const choice = choiceOf(place.value.query);
  const key = JSON.stringify(choice);
  const set = (changes: Partial<Choice>) =>
    go(href('requests', undefined, { ...choice, ...changes }), { replace: true });
  return (
    <Page
      title="Requests"
      lead="Waiting ones in the order of their turn, then running ones. Ended ones are kept for a while."
    >
      <Filters of={choice} onChange={set} />
      <List key={key} choice={choice} />
    </Page>
  );
}

function List({ choice }: { choice: Choice }) {
  const pages = useComputed(() => new RequestPages()).value;
  const range = useSignal({ first: 0, last: 0 });
  const chosen = useSignal<ReadonlyMap<string, Row>>(new Map());
  const list = useResource(
    signal =>
      pages.load(range.value, offset =>
        get('/admin/v1/requests', { query: { ...choice, limit: PAGE, offset }, signal }),
      ),
    `${pages.pageOf(range.value.first)} ${pages.pageOf(range.value.last)}`,
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
    <Card class="list-card">
      <Toolbar
        choice={choice}
        total={total}
        chosen={[...chosen.value.values()]}
        done={() => {
          chosen.value = new Map();
          list.reload();
        }}
      />
      <ErrorCodes />
      {total === 0 ? (
        <Blank icon="requests" title="No request matches">
          {Object.values(choice).some(Boolean) ? 'Change or clear the filters.' : 'Nothing waits and nothing runs.'}
        </Blank>
      ) : (
        <VirtualRows
          label="Requests"
          total={total ?? 0}
          rowHeight={46}
          columns={8}
          onRange={(first, last) => (range.value = { first, last })}
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
  const each = async (act: (row: Row) => Promise<unknown>, said: string) => {
    await attempt(() => Promise.all(chosen.map(act)), `${plural(chosen.length, 'request')} ${said}.`);
    done();
  };
  const priority = (to: 'realtime' | 'batch') =>
    each(row => setPriority(row, to), to === 'realtime' ? 'go before batch work' : 'count as batch work');
  const cancel = async () => {
    const title = `Cancel ${plural(chosen.length, 'request')}?`;
    if (await confirmed(title, 'Their clients get an error at once.', 'Cancel them'))
      await each(cancelOne, 'cancelled');
  };
  return (
    <div class="toolbar">
      <span role="status">
        {total === undefined ? 'Loading' : plural(total, 'request')}
        {chosen.length > 0 && `, ${count(chosen.length)} chosen`}
      </span>
      <div class="inline">
        {chosen.length > 0 ? (
          <>
            <button type="button" onClick={() => void priority('realtime')}>
              Make realtime
            </button>
            <button type="button" onClick={() => void priority('batch')}>
              Make batch
            </button>
            <button type="button" class="danger" onClick={() => void cancel()}>
              Cancel chosen
            </button>
          </>
        ) : (
          <CancelAll choice={choice} total={total ?? 0} done={done} />
        )}
      </div>
    </div>
  );
}

/** By the filters that the server itself understands; the others name single requests, which are chosen one by one. */
function CancelAll({ choice, total, done }: { choice: Choice; total: number; done: () => void }) {
  const { state, model, tenant, priority, search, min_wait_ms: waited, code } = choice;
  const isLive = ['', 'queued', 'running'].includes(state);
  const filter = Object.fromEntries(Object.entries({ state, model, tenant, priority }).filter(([, value]) => value));
  if (!isLive || total === 0 || search || waited || code) return null;
  const act = async () => {
    const whose =
      Object.entries(filter)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ') || 'every tenant and model';
    if (
      !(await confirmed(
        `Cancel all ${count(total)}?`,
        `All requests of ${whose}. Their clients get an error.`,
        'Cancel all',
      ))
    )
      return;
    const body = Object.keys(filter).length > 0 ? filter : { all: true };
    let cancelled = 0;
    await attempt(
      async () => void (cancelled = (await post('/admin/v1/requests/cancel', { body })).cancelled.length),
      () => `${plural(cancelled, 'request')} cancelled.`,
    );
    done();
  };
  return (
    <button type="button" class="danger" onClick={() => void act()}>
      Cancel all that match
    </button>
  );
}

const tenantOf = ({ tenant }: Row) => ({ tenant });

export const cancelOne = (row: Row): Promise<unknown> =>
  post('/admin/v1/requests/{id}/cancel', { id: row.request_id, query: tenantOf(row) });

export const setPriority = (row: Row, priority: 'realtime' | 'batch'): Promise<unknown> =>
  post('/admin/v1/requests/{id}/priority' as '/admin/v1/requests/{id}/cancel', {
    ...{ id: row.request_id, query: tenantOf(row), body: { priority } },
  });

const COLUMNS = ['', 'Request', 'State', 'Priority', 'Model', 'Tenant', 'Waited', 'Why'];

const Head = () => (
  <>
    {COLUMNS.map(name => (
      <span key={name} role="columnheader" class={`c-${name.toLowerCase() || 'choose'}`}>
        {name || <span class="visually-hidden">Choose</span>}
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
  if (!row) {
    return (
      <span role="cell" class="c-request muted">
        Loading
      </span>
    );
  }
  const { request_id: id, state, tenant = '', model = 'unknown', priority, waited_ms: waited, aged } = row;
  const isLive = state === 'queued' || state === 'running';
  return (
    <>
      <span role="cell" class="c-choose">
        <input
          type="checkbox"
          aria-label={`Choose ${id}`}
          disabled={!isLive}
          checked={chosen.has(keyOf(row))}
          onChange={() => toggle(row)}
        />
      </span>
      <span role="cell" class="c-request">
        <a class="mono" href={href('requests', id, { tenant })} title={id}>
          {id}
        </a>
      </span>
      <span role="cell" class="c-state">
        <State of={state} />
        {row.position !== undefined && <span class="muted"> number {count(row.position)}</span>}
      </span>
      <span role="cell" class="c-priority">
        <span class={`tag ${priority}`}>{aged ? `${priority}, aged` : priority}</span>
      </span>
      <span role="cell" class="c-model" title={model}>
        {model}
      </span>
      <span role="cell" class="c-tenant" title={tenant}>
        {tenant}
      </span>
      <span role="cell" class="c-waited">
        {duration(waited)}
      </span>
      <span role="cell" class="c-why muted" title={row.explanation}>
        {row.code ?? row.waits_for ?? row.worker ?? ''}
      </span>
    </>
  );
}
