import { computed, signal } from '@preact/signals';
import { type Answer, get, request, whenSignedOut } from './client';

type Session = Answer<'/console/session'>;

/** Undefined until the server has said who is asking. */
export const session = signal<Session | undefined>(undefined);
export const unreachable = signal('');

export const isAdmin = computed(() => session.value?.scopes.includes('admin') ?? false);
export const mayInfer = computed(() => session.value?.scopes.includes('inference') ?? false);

const SIGNED_OUT: Session = {
  keys_required: true,
  signed_in: false,
  tenant: '',
  scopes: [],
};

export async function refreshSession(): Promise<void> {
  try {
    session.value = await get('/console/session');
    unreachable.value = '';
  } catch (error) {
    unreachable.value = (error as Error).message;
    setTimeout(() => void refreshSession(), 2000);
  }
}

/** @throws ApiError saying why not */
export async function signIn(key: string): Promise<void> {
  const answer = await request('/console/session', { method: 'POST', body: { key } });
  session.value = (await answer.json()) as Session;
}

export async function signOut(): Promise<void> {
  await request('/console/session', { method: 'DELETE' });
  session.value = SIGNED_OUT;
}

whenSignedOut(() => {
  if (session.value?.signed_in) session.value = SIGNED_OUT;
});
