import type { RouterHistory } from '@tanstack/react-router';

const unreadIn = (within: ParentNode): HTMLInputElement | undefined =>
  [...within.querySelectorAll('input')].find(({ validity }) => validity.badInput);

/**
 * Moves to the first control that holds what the browser could not read, such as half a date.
 * @returns whether there is one: then what was typed would be lost with whatever is done now.
 */
export function focusUnread(within: ParentNode = document): boolean {
  const unread = unreadIn(within);
  unread?.focus();
  return unread !== undefined;
}

/**
 * Sends no form of this page in which something could not be read, whichever it is, and leaves no screen with it: there it
 * has its sentence. An end of the session leads away all the same.
 */
export function holdUnread(history: RouterHistory): void {
  history.block({
    blockerFn: ({ currentLocation, nextLocation }) =>
      currentLocation.pathname !== nextLocation.pathname &&
      !nextLocation.pathname.endsWith('/sign-in') &&
      focusUnread(),
    enableBeforeUnload: () => unreadIn(document) !== undefined,
  });
  document.addEventListener(
    'submit',
    (event) => {
      if (!(event.target instanceof HTMLFormElement) || !focusUnread(event.target)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
}
