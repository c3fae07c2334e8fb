import { useSignal } from '@preact/signals';
import { signIn } from './api/session';
import { Brand } from './side';
import { Button, Field } from './ui/controls';

/**
 * The key is sent once and not stored in the browser: the server answers with a cookie
 * that scripts cannot read.
 */
export function SignIn() {
  const problem = useSignal('');
  const busy = useSignal(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const key = String(
      new FormData(event.currentTarget as HTMLFormElement).get('key') ?? '',
    ).trim();
    if (!key) return void (problem.value = 'Enter a key.');
    busy.value = true;
    problem.value = '';
    await signIn(key).catch((error: Error) => (problem.value = error.message));
    busy.value = false;
  };
  return (
    <main class="sign-in" id="main">
      <div class="card">
        <Brand />
        <h1>Sign in</h1>
        <p class="lead">
          Enter an API key of this server. Its scopes decide what you can see and do.
        </p>
        <form class="stack" onSubmit={event => void submit(event)}>
          <Field label="API key">
            <input
              name="key"
              type="password"
              autocomplete="current-password"
              spellcheck={false}
              aria-invalid={problem.value !== ''}
              aria-describedby="sign-in-problem"
            />
          </Field>
          <p id="sign-in-problem" class="state bad" role="alert" hidden={problem.value === ''}>
            {problem.value}
          </p>
          <Button kind="primary" disabled={busy.value}>
            {busy.value ? 'Signing in' : 'Sign in'}
          </Button>
        </form>
      </div>
    </main>
  );
}
