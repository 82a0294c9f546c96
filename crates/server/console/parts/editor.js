// The editor, in a shadow root: there its styles are adopted sheets, which the page's policy allows.
import { useEffect, useRef } from '../vendor/preact.js';
import { div, HIDDEN, use } from '../dom.js';

/** @typedef {{ line: number, column: number, message: string, hint?: string }} Mistake */

/** @param {{ value: string, language: 'python' | 'shell' | 'json', change: (text: string) => void, mistakes: Mistake[], label: string }} props */
function Editor({ value, language, change, mistakes, label }) {
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const view = useRef(/** @type {any} */ (null));
  const cm = useRef(/** @type {typeof import('../vendor/codemirror.js') | null} */ (null));
  const latest = useRef(change);
  latest.current = change;
  useEffect(() => {
    let over = false;
    const at = host.current;
    if (!at) return;
    import('../vendor/codemirror.js').then((made) => {
      if (over) return;
      cm.current = made;
      const root = at.shadowRoot ?? at.attachShadow({ mode: 'open' });
      const { tags } = made;
      const style = made.HighlightStyle.define([
        { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: 'var(--accent)', fontWeight: '600' },
        { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
        { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
        { tag: tags.comment, color: 'var(--ink-3)' },
        { tag: [tags.function(tags.variableName), tags.definition(tags.variableName), tags.className], color: 'var(--accent)' },
        { tag: tags.invalid, color: 'var(--bad)' },
      ]);
      const theme = made.EditorView.theme({
        '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--ink)', fontSize: '13px' },
        '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
        '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
        '.cm-gutters': { backgroundColor: 'var(--bg)', color: 'var(--ink-3)', border: 'none', borderRight: '1px solid var(--line)' },
        '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'light-dark(rgb(20 24 31 / 4%), rgb(255 255 255 / 4%))' },
        '.cm-cursor': { borderLeftColor: 'var(--ink)' },
        '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'light-dark(#bcd3fa, #2a4d80) !important' },
        '.cm-tooltip': { backgroundColor: 'var(--surface)', border: '1px solid var(--line)', color: 'var(--ink)', borderRadius: '6px' },
      });
      const kind = language === 'python' ? made.python() : language === 'json' ? made.json() : made.StreamLanguage.define(made.shell);
      view.current = new made.EditorView({
        parent: root,
        root,
        state: made.EditorState.create({
          doc: value,
          extensions: [
            made.lineNumbers(),
            made.highlightSpecialChars({ addSpecialChars: HIDDEN }),
            made.history(),
            made.drawSelection(),
            made.indentOnInput(),
            made.bracketMatching(),
            made.highlightActiveLine(),
            made.lintGutter(),
            made.indentUnit.of('    '),
            made.syntaxHighlighting(style),
            kind,
            theme,
            made.EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
            // Tab leaves the editor, so that nobody is caught in it.
            made.keymap.of([...made.defaultKeymap, ...made.historyKeymap]),
            made.EditorView.updateListener.of((update) => {
              if (update.docChanged) latest.current(update.state.doc.toString());
            }),
          ],
        }),
      });
    });
    return () => {
      over = true;
      view.current?.destroy();
      view.current = null;
    };
  }, [language]);
  useEffect(() => {
    const now = view.current;
    if (now && now.state.doc.toString() !== value) now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const now = view.current;
    if (!now || !cm.current) return;
    const { doc } = now.state;
    now.dispatch(
      cm.current.setDiagnostics(
        now.state,
        mistakes
          .filter((one) => one.line <= doc.lines)
          .map((one) => {
            const line = doc.line(Math.max(1, one.line));
            return { from: Math.min(line.to, line.from + Math.max(0, one.column - 1)), to: line.to, severity: 'error', message: `${one.message}.${one.hint ? ` ${one.hint}` : ''}` };
          }),
      ),
    );
  }, [mistakes]);
  return div({ class: 'editor', ref: host });
}

/** @param {Parameters<typeof Editor>[0]} props */
export const editor = (props) => use(Editor, props);
