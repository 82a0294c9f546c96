export { h, render, Fragment, createRef } from 'preact';
export { useEffect, useLayoutEffect, useRef, useState, useMemo, useId, useErrorBoundary } from 'preact/hooks';
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from '@preact/signals';
