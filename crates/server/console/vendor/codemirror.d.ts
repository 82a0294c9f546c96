export { EditorState, Compartment } from '@codemirror/state';
export { EditorView, keymap, lineNumbers, highlightActiveLine, highlightSpecialChars, drawSelection } from '@codemirror/view';
export { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
export { HighlightStyle, syntaxHighlighting, indentOnInput, bracketMatching, StreamLanguage, indentUnit } from '@codemirror/language';
export { lintGutter, setDiagnostics } from '@codemirror/lint';
export { python } from '@codemirror/lang-python';
export { json } from '@codemirror/lang-json';
export { shell } from '@codemirror/legacy-modes/mode/shell';
export { tags } from '@lezer/highlight';
