import type { RouterHistory } from '@tanstack/react-router';

const findUnreadableInput = (within: ParentNode): HTMLInputElement | undefined =>
  [...within.querySelectorAll('input')].find(({ validity }) => validity.badInput);

/**
 * Moves the focus to the first control with input that the browser could not read, such as half a date.
 * @returns whether there is one. The caller must then stop, because any other action would lose the input.
 */
export function focusUnreadableInput(within: ParentNode = document): boolean {
  const unread = findUnreadableInput(within);
  unread?.focus();
  return unread !== undefined;
}

/**
 * Blocks every form and navigation while a control has unreadable input; the control shows a message. When
 * the session ends, the screen is left anyway.
 */
export function blockUnreadableInput(history: RouterHistory): void {
  history.block({
    blockerFn: ({ currentLocation, nextLocation }) =>
      currentLocation.pathname !== nextLocation.pathname &&
      !nextLocation.pathname.endsWith('/sign-in') &&
      focusUnreadableInput(),
    enableBeforeUnload: () => findUnreadableInput(document) !== undefined,
  });
  document.addEventListener(
    'submit',
    (event) => {
      if (!(event.target instanceof HTMLFormElement) || !focusUnreadableInput(event.target)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
}
