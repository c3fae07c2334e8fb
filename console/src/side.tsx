import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { session, signOut } from './api/session';
import { feedProblem, feedState } from './live/feed';
import { href, place } from './router';
import { attempt } from './ui/actions';
import { Icon } from './ui/icons';
import { switchTheme, theme } from './ui/theme';
import { visibleViews } from './views';

const FEED = { live: 'Live', lost: 'Not connected', connecting: 'Connecting' } as const;

export const Brand = () => (
  <a class="brand" href={href('now')}>
    <svg class="icon" width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M3 9h8c6 0 6 14 12 14h6M3 23h8M23 9h6M17 9h-2" />
    </svg>
    Switchyard
  </a>
);

export function Side({ current }: { current: string }) {
  const open = useSignal(false);
  useEffect(() => void (open.value = false), [place.value]);
  return (
    <header class={`side ${open.value ? 'open' : ''}`}>
      <Brand />
      <button
        type="button"
        class="menu-button"
        aria-expanded={open.value}
        aria-controls="views"
        onClick={() => (open.value = !open.value)}
      >
        Menu
      </button>
      <nav id="views" aria-label="Views">
        <ul>
          {visibleViews.value.map(({ name, title }) => (
            <li key={name}>
              <a href={href(name)} aria-current={name === current ? 'page' : undefined}>
                <Icon name={name} /> {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Foot />
    </header>
  );
}

function Foot() {
  const dark = theme.value === 'dark';
  return (
    <div class="side-foot">
      <span class={`feed ${feedState.value}`} role="status" title={feedProblem.value}>
        {FEED[feedState.value]}
      </span>
      {session.value?.keys_required && <span>Tenant {session.value.tenant}</span>}
      <div class="side-tools">
        <button type="button" class="quiet" onClick={switchTheme}>
          <Icon name={dark ? 'sun' : 'moon'} size={16} /> {dark ? 'Light' : 'Dark'}
        </button>
        {session.value?.keys_required && (
          <button type="button" class="quiet" onClick={() => void attempt(signOut, 'Signed out.')}>
            <Icon name="signOut" size={16} /> Sign out
          </button>
        )}
      </div>
    </div>
  );
}
