// Small line drawings, as elements.
import { path, svg } from './dom.js';

const SHAPES = {
  overview: 'M3 12.5 8 8l3 3 6-6M3 17h14',
  chat: 'M3 4h14v10H9l-4 3v-3H3z',
  approvals: 'M7 3.5v13M13 3.5v13',
  executions: 'M3 5h14M3 10h14M3 15h9',
  tools: 'M12.5 3.5a4 4 0 0 0-3.8 5.3L3 14.5 5.5 17l5.7-5.7a4 4 0 0 0 5-5.2L13.6 8.7 11.3 6.4 13.9 3.8a4 4 0 0 0-1.4-.3z',
  servers: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01',
  profiles: 'M10 3 17 6.5 10 10 3 6.5zM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5',
  scripts: 'M7 6 3 10l4 4M13 6l4 4-4 4',
  tasks: 'M3.5 5.5 5 7l2.5-3M3.5 13 5 14.5l2.5-3M10.5 6H17M10.5 13.5H17',
  cards: 'M5 6h12v10H5zM3 13V4h11',
  keys: 'M12.5 10.5a3.5 3.5 0 1 0-3-3L3 14v3h3l1-1v-1.5h1.5L10 13z',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4.2v3.6M7 12.2v3.6',
  more: 'M4 10h.01M10 10h.01M16 10h.01',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
  copy: 'M7 7h9v10H7zM4 13V3h9',
  close: 'M5 5l10 10M15 5 5 15',
  plus: 'M10 4v12M4 10h12',
  up: 'M5 12l5-5 5 5',
  down: 'M5 8l5 5 5-5',
  back: 'M12 5l-5 5 5 5',
};

/** @typedef {keyof typeof SHAPES} IconName */

/** @param {IconName} shape */
export const icon = (shape) =>
  svg(
    {
      class: 'icon',
      viewBox: '0 0 20 20',
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': shape === 'more' || shape === 'servers' ? 1.7 : 1.6,
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
      'aria-hidden': 'true',
    },
    path({ d: SHAPES[shape] }),
  );
