import type { Answer } from '../../api/client';
import { useGet } from '../../api/resource';
import { href } from '../../router';
import { Runbook } from '../../ui/finding';

type Kind = NonNullable<Answer<'/admin/v1/status'>['bottleneck']>['kind'];

/** Where to look next: a view, and a section of the runbook. */
const NEXT: Readonly<Record<Kind, readonly [view: string, title: string, section?: string]>> = {
  draining: ['health', 'Health'],
  disk_full: ['health', 'Health', 'switchyarddiskalmostfull'],
  dependency_down: ['health', 'Health', 'switchyarddependencydown'],
  model_away: ['models', 'Models'],
  no_worker: ['workers', 'Workers', 'switchyardmodelwithoutworker'],
  workers_lost: ['workers', 'Workers', 'switchyardhalfofworkersaway'],
  requests_fail: ['requests', 'Its requests', 'switchyardfailures'],
  tenant_floods: ['requests', 'Its requests', 'switchyardqueuefull'],
  queue_grows: ['requests', 'Its requests', 'switchyardinteractivewait'],
  slots_full: ['requests', 'Its requests', 'switchyardinteractivewait'],
};

/** Requests fail or cannot be served; the other kinds only delay them. */
const STOPPING: readonly Kind[] = [
  'draining',
  'disk_full',
  'dependency_down',
  'no_worker',
  'requests_fail',
];

/** One sentence: what binds now, and what would help. */
export function Bottleneck() {
  const { data } = useGet('/admin/v1/status', { everyMs: 2000 });
  if (!data) return <>Requests from arrival to answer.</>;
  if (!data.bottleneck)
    return <span class="state good">No bottleneck: nothing delays requests.</span>;
  const { kind, model, text } = data.bottleneck;
  const [view, title, section] = NEXT[kind];
  return (
    <span class="inline">
      <span class={`state ${STOPPING.includes(kind) ? 'bad' : 'warn'} wrap`} role="status">
        {text}
      </span>
      <a href={href(view, undefined, view === 'requests' && model ? { model } : {})}>{title}</a>
      {section && <Runbook at={section} />}
    </span>
  );
}
