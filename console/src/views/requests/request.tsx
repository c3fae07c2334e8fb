import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LiveRequest } from '../../../../src/contracts/events/live-event';
import { get } from '../../api/client';
import { useResource } from '../../api/resource';
import { isAdmin, session } from '../../api/session';
import { feed } from '../../live/feed';
import { href, place } from '../../router';
import { attempt, attemptConfirmed } from '../../ui/actions';
import { Button } from '../../ui/controls';
import { count, duration, plural } from '../../ui/format';
import { Card, Facts, Page, State, Time } from '../../ui/parts';
import { Loaded } from '../../ui/states';
import { cancelOne, setPriority } from './requests';
import { type Found, Waterfall } from './waterfall';

const NEW_TAB = { target: '_blank', rel: 'noreferrer' };

/** One request: where it is, why it waits, and where its time went. */
export function RequestPage() {
  const { id = '', query } = place.value;
  const tenant = query.get('tenant') ?? '';
  const live = useSignal<LiveRequest | undefined>(undefined);
  const found = useResource(
    signal =>
      isAdmin.value
        ? get('/admin/v1/requests/{id}', { id, query: { tenant }, signal })
        : (get('/v1/requests/{id}', { id, signal }) as Promise<Found>),
    `${id} ${live.value?.state ?? ''}`,
    1500,
  );
  useEffect(
    () =>
      feed.watch(`request:${id}`, entries => (live.value = entries[0] as LiveRequest | undefined)),
    [id],
  );
  return (
    <Page
      title={<span class="mono">{id}</span>}
      lead={<a href={href('requests')}>All requests</a>}
      actions={found.data && isAdmin.value && <Actions of={found.data} reload={found.reload} />}
    >
      <Loaded from={found} rows={6}>
        {request => <Detail of={request} live={live.value} />}
      </Loaded>
    </Page>
  );
}

function Actions({ of: request, reload }: { of: Found; reload: () => void }) {
  if (request.state !== 'queued' && request.state !== 'running') return null;
  const other = request.priority === 'realtime' ? 'batch' : 'realtime';
  const change = async () => {
    if (await attempt(() => setPriority(request, other), `Its priority is ${other} now.`)) reload();
  };
  const cancel = async () => {
    const question = [
      'Cancel this request?',
      'Its client gets an error at once.',
      'Cancel it',
    ] as const;
    if (await attemptConfirmed(question, () => cancelOne(request), 'Cancelled.')) reload();
  };
  return (
    <>
      {request.state === 'queued' && <Button act={change}>Make {other}</Button>}
      <Button kind="danger" act={cancel}>
        Cancel
      </Button>
    </>
  );
}

interface DetailProps {
  readonly of: Found;
  readonly live: LiveRequest | undefined;
}

function Detail({ of: request, live }: DetailProps) {
  const { state, explanation, ahead = [], phases } = request;
  return (
    <>
      <Card title={<State of={state} />} class="why">
        <p>{explanation}</p>
        {ahead.length > 0 && (
          <p class="muted">
            Ahead of it: {ahead.map(each => `${count(each.requests)} of ${each.tenant}`).join(', ')}
            .
          </p>
        )}
      </Card>
      <div class="split">
        <Card
          title="Where the time went"
          aside={phases.total_ms !== undefined && duration(phases.total_ms)}
        >
          <Waterfall of={request} live={live} />
        </Card>
        <Card title="Facts">
          <RequestFacts of={request} live={live} />
        </Card>
      </div>
    </>
  );
}

function RequestFacts({ of: request, live }: DetailProps) {
  const { forecast, model, tenant, priority, attempts, worker, code } = request;
  const eta = forecast?.end_in_ms;
  const { group, batch_size: computed = 1 } = live ?? {};
  const others = computed - 1;
  const together =
    group &&
    group.size > 1 &&
    `${plural(group.size, 'request')}: ${group.reason.replaceAll('_', ' ')}`;
  const trace = session.value?.links?.trace.replaceAll(
    '{request_id}',
    encodeURIComponent(request.request_id),
  );
  return (
    <Facts
      of={[
        ['Model', model && <a href={href('requests', undefined, { model })}>{model}</a>],
        ['Tenant', tenant && <a href={href('requests', undefined, { tenant })}>{tenant}</a>],
        ['Priority', request.aged ? `${priority}, aged: takes turns with realtime` : priority],
        ['Queue position', request.position && count(request.position)],
        ['Waited', duration(request.waited_ms)],
        [
          'Answered in',
          eta && `about ${duration(eta.p50)}, within ${duration(eta.p90)} in 9 of 10 cases`,
        ],
        ['Worker', worker],
        ['Attempts', attempts > 1 ? plural(attempts, 'worker') : count(attempts)],
        ['Sent together', together],
        ['Computed with', others > 0 && plural(others, 'other')],
        ['Error code', code && <code>{code}</code>],
        ['Cancelled by', live?.cancel_reason],
        ['Route', request.endpoint],
        ['Received', request.created_at && <Time at={request.created_at} />],
        ['Ended', request.completed_at && <Time at={request.completed_at} />],
        ['Trace', trace && <a {...{ ...NEW_TAB, href: trace }}>search for its id in a new tab</a>],
        [
          'Response',
          request.content_url && <a href={request.content_url}>{request.status_code}, as sent</a>,
        ],
      ]}
    />
  );
}
