// Who is logged in. A session has two halves: a cookie that no script can read, and a proof that only this page has.
import { signal } from './vendor/preact.js';
import { go, to } from './router.js';
import { exchange, get, hasProof, hooks, keepProof, Problem, send } from './api.js';

/** @typedef {{ user: string, owner: boolean, person: boolean, grants: string[], profiles: string[] | null, resources: string[], idle_expires_at: string, expires_at: string }} Session */

/** `undefined` until it is known, `null` when nobody is logged in. @type {import('@preact/signals').Signal<Session | null | undefined>} */
export const session = signal(/** @type {any} */ (undefined));
/** Why nobody is logged in, where there is something to say. @type {import('@preact/signals').Signal<Problem | null>} */
export const refused = signal(/** @type {Problem | null} */ (null));

/** Uses the link of the address, if there is one, else the session from before. */
export async function start() {
  hooks.ended = () => {
    if (session.value) {
      session.value = null;
      refused.value = null;
    }
  };
  // A link that is pasted into an open page changes the hash alone.
  addEventListener('hashchange', useLink);
  if (await useLink()) return;
  if (!hasProof()) {
    session.value = null;
    return;
  }
  const answer = await exchange('GET', '/session').catch((error) => error);
  if (answer instanceof Problem) {
    refused.value = answer;
    session.value = null;
    return;
  }
  session.value = answer.ok ? answer.value : null;
}

/** Logs in by the link of the address, if there is one. */
async function useLink() {
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (!link) return false;
  // Out of the address before anything else can see it.
  go(to([]), { replace: true });
  await logIn({ link });
  return true;
}

/** @param {{ link: string } | { key: string }} by */
export async function logIn(by) {
  try {
    const { proof, ...found } = await send('POST', '/session', by);
    keepProof(proof);
    refused.value = null;
    session.value = found;
  } catch (error) {
    refused.value = /** @type {Problem} */ (error);
    session.value = null;
  }
}

export async function logOut() {
  await send('DELETE', '/session').catch(() => {});
  keepProof(null);
  session.value = null;
}

/** Whether the session has a grant. @param {string} wanted such as `servers:write` */
export function holds(wanted) {
  const [resource, action] = wanted.split(':');
  return !!session.value?.grants.some((grant) => grant === '*' || ([resource, '*'].includes(grant.split(':')[0]) && [action, '*'].includes(grant.split(':')[1])));
}

/** The newest state of the session, such as its new deadline. */
export const renew = async () => {
  session.value = await get('/session');
};
