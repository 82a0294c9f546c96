export { diffLines, diffWordsWithSpace } from 'diff';
