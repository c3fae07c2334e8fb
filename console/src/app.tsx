import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { session, unreachable } from './api/session';
import { feed } from './live/feed';
import { watchQueue } from './live/queue';
import { place } from './router';
import { Side } from './side';
import { SignIn } from './sign-in';
import { ConfirmDialog, Notices } from './ui/actions';
import { Page } from './ui/parts';
import { Blank, Skeleton } from './ui/states';
import { VIEWS, visibleViews } from './views';
import { BatchPage } from './views/batches/batch';
import { Batches } from './views/batches/batches';
import { Health } from './views/health';
import { Models } from './views/models';
import { Now } from './views/now/now';
import { Playground } from './views/playground/playground';
import { RequestPage } from './views/requests/request';
import { Requests } from './views/requests/requests';
import { Settings } from './views/settings';
import { Tenants } from './views/tenants/tenants';
import { Workers } from './views/workers';

const PAGES: Readonly<Record<string, ComponentType>> = {
  now: Now,
  requests: Requests,
  request: RequestPage,
  models: Models,
  workers: Workers,
  batches: Batches,
  batch: BatchPage,
  playground: Playground,
  tenants: Tenants,
  settings: Settings,
  health: Health,
};

/** A view with an id is the page of one thing. */
const DETAIL: Readonly<Record<string, string>> = {
  requests: 'request',
  batches: 'batch',
};

export function App() {
  const who = session.value;
  if (!who)
    return unreachable.value ? (
      <Blank icon="alert" tone="bad" title={unreachable.value} />
    ) : (
      <Skeleton />
    );
  return (
    <>
      {who.signed_in ? <Console key={who.tenant} /> : <SignIn />}
      <Notices />
      <ConfirmDialog />
    </>
  );
}

function Console() {
  useEffect(() => {
    feed.open();
    const leave = watchQueue();
    return () => {
      leave();
      feed.close();
    };
  }, []);
  const { view, id } = place.value;
  const name =
    view === 'now'
      ? (visibleViews.value[0]?.name ?? 'playground')
      : view === 'realtime'
        ? 'playground'
        : view;
  const page = id !== undefined ? (DETAIL[name] ?? name) : name;
  const View = PAGES[page];
  const title = VIEWS.find(each => each.name === name)?.title;
  useEffect(
    () => void (document.title = `${id ?? title ?? 'Not found'} · Switchyard`),
    [title, id],
  );
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Side current={name} />
      <main id="main" tabIndex={-1}>
        {View ? (
          <View key={`${page} ${id}`} />
        ) : (
          <Page title="Page not found" lead="Check the address." />
        )}
      </main>
    </div>
  );
}
