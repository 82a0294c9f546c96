export { h, render } from 'preact';
export { useEffect, useLayoutEffect, useRef, useState, useMemo, useErrorBoundary } from 'preact/hooks';
export { signal, computed, effect } from '@preact/signals';
