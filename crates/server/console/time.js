// Times as people read them: relative up to an hour, then absolute, in their zone, with the instant on hover.
import { signal, useState } from './vendor/preact.js';
import { time, use } from './dom.js';

/** The present second. What reads it is drawn again as time passes. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
document.addEventListener('visibilitychange', () => {
  now.value = Date.now();
});

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const short = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const moment = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const dated = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' });

/** @param {string | number} at */
const millis = (at) => (typeof at === 'number' ? at : Date.parse(at));

/** 21:47:09.412, with the day if it is another. @param {string} at */
export const stamp = (at) =>
  `${new Date(at).toDateString() === new Date().toDateString() ? '' : `${short.format(millis(at))} `}${clock.format(millis(at))}.${String(millis(at) % 1000).padStart(3, '0')}`;

/** @param {string | number} at */
export const fullTime = (at) => full.format(millis(at));

/** @param {string | number} at */
export const day = (at) => dated.format(millis(at));

/** @param {number} seconds */
export function span(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')} min`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d`;
}

/** @param {string | number} at */
export function ago(at) {
  const seconds = Math.round((now.value - millis(at)) / 1000);
  if (seconds < 0) return moment.format(millis(at));
  if (seconds < 5) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86_400 * 300 ? moment.format(millis(at)) : day(at);
}

/** @param {{ at: string | number }} props */
function When({ at }) {
  return time({ dateTime: new Date(millis(at)).toISOString(), title: fullTime(at) }, ago(at));
}

/** @param {string | number | null | undefined} at */
export const when = (at) => (at == null ? 'never' : use(When, { at }));

/** Seconds until then. @param {string} at */
export const left = (at) => (Date.parse(at) - now.value) / 1000;

/** Whether something has been on the page for that long; reads the clock. @param {number} wait */
export function useRested(wait) {
  const [since] = useState(() => performance.now());
  const [rested, rest] = useState(false);
  if (!rested) setTimeout(() => rest(true), Math.max(0, wait - (performance.now() - since)));
  return rested;
}
