// A chart with a sentence and a table behind it. Colours come from the tokens, and are read again with the theme.
import { useEffect, useRef } from '../vendor/preact.js';
import { details, div, figcaption, figure, summary, tableElement, tbody, td, th, thead, tr, use } from '../dom.js';
import { theme } from '../settings.js';
import { count } from '../text.js';

/** @typedef {{ label: string, color: string, values: number[], dash?: number[], scale?: string, fill?: boolean }} Line */

/** @param {{ times: number[], lines: Line[], sentence: string, zoomed: (from: number, until: number) => void }} props */
function Chart({ times, lines, sentence, zoomed }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const chosen = theme.value;
  useEffect(() => {
    const at = box.current;
    if (!at) return;
    let over = false;
    /** @type {any} */
    let plot;
    const draw = async () => {
      const { uPlot } = await import('../vendor/uplot.js');
      if (over) return;
      plot?.destroy();
      const probe = document.createElement('i');
      at.append(probe);
      const color = (/** @type {string} */ token) => { probe.style.color = `var(--${token})`; return getComputedStyle(probe).color; };
      const font = `12px ${getComputedStyle(document.body).fontFamily}`;
      const axis = { stroke: color('ink-3'), font, grid: { stroke: color('line'), width: 1 }, ticks: { show: false } };
      const time = (/** @type {number} */ seconds, /** @type {Intl.DateTimeFormatOptions} */ how) => new Intl.DateTimeFormat('en-GB', how).format(seconds * 1000);
      const long = times[times.length - 1] - times[0] > 90_000;
      plot = new uPlot({
        width: at.clientWidth, height: 200, padding: [12, 4, 0, 0],
        cursor: { points: { size: 7 }, drag: { x: true, y: false }, y: false },
        legend: { live: true }, scales: { ms: { range: (_, low, high) => [0, Math.max(1, high * 1.15)] }, y: { range: (_, low, high) => [0, Math.max(1, high * 1.15)] } },
        axes: [
          { ...axis, size: 32, grid: { show: false }, values: (_, splits) => splits.map((one) => time(one, long ? { day: 'numeric', month: 'short', hour: '2-digit' } : { hour: '2-digit', minute: '2-digit' })) },
          { ...axis, size: 44 },
          { ...axis, side: 1, scale: 'ms', size: 56, grid: { show: false }, values: (_, splits) => splits.map((one) => `${count(one)} ms`) },
        ],
        series: [{ label: 'Time', value: (_, at_) => (at_ == null ? '' : time(at_, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })) },
          ...lines.map((line) => ({ label: line.label, stroke: color(line.color), width: 1.75, dash: line.dash, scale: line.scale ?? 'y', points: { show: false }, fill: line.fill ? color(`${line.color}-ground`) : undefined, value: (/** @type {any} */ _, /** @type {number | null} */ value) => (value == null ? '' : line.scale === 'ms' ? `${value.toFixed(1)} ms` : count(value)) }))],
        hooks: { setSelect: [(made) => { const { left, width } = made.select; if (width > 8) zoomed(made.posToVal(left, 'x'), made.posToVal(left + width, 'x')); }] },
      }, [times, ...lines.map((line) => line.values)], at);
      probe.remove();
    };
    draw();
    const size = new ResizeObserver(() => { if (plot && at.clientWidth) plot.setSize({ width: at.clientWidth, height: 200 }); });
    size.observe(at);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    return () => { over = true; size.disconnect(); scheme.removeEventListener('change', draw); plot?.destroy(); };
  }, [times, lines, chosen]);
  return figure({ class: 'chart' },
    div({ ref: box, class: 'plot', 'aria-hidden': 'true' }),
    figcaption({ class: 'note' }, sentence),
    details(null, summary({ class: 'note' }, 'The same as a table'), div({ class: 'box', tabIndex: 0, role: 'region', 'aria-label': 'Table of the chart' }, tableElement({ class: 'table' },
      thead(null, tr(null, th({ scope: 'col' }, 'Time'), lines.map((line) => th({ key: line.label, class: 'num', scope: 'col' }, line.label)))),
      tbody(null, times.map((at, index) => tr({ key: at }, td(null, new Date(at * 1000).toLocaleString('en-GB')), lines.map((line) => td({ key: line.label, class: 'num' }, line.scale === 'ms' ? line.values[index]?.toFixed(1) : count(line.values[index] ?? 0))))))))));
}

/** @param {Parameters<typeof Chart>[0]} props */
export const chart = (props) => use(Chart, props);
