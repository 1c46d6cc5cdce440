import { type RefObject, useEffect, useEffectEvent } from 'react';
import { flushSync } from 'react-dom';

/** The distance (px) or speed (px per ms) beyond which the sheet closes; otherwise it moves back. */
const enough = { way: 96, pace: 0.5 } as const;

/**
 * Closes a sheet that is swiped down. The swipe may start anywhere except on scrolled content or content with
 * `touch-action: none`. In a form it must start on the header, so that an accidental swipe loses no text.
 * `onAway` runs when the sheet is out of sight.
 */
export function useSwipeAway(sheet: RefObject<HTMLElement | null>, isOn: boolean, onAway: () => void): void {
  const away = useEffectEvent(onAway);
  useEffect(() => {
    const node = sheet.current;
    if (!node || !isOn) return undefined;
    /** Where the touch started, and whether it moves the sheet. */
    let from: { readonly x: number; readonly y: number; readonly at: number; moves: boolean } | undefined;
    const wayOf = (event: TouchEvent): number => event.changedTouches[0]!.clientY - (from?.y ?? 0);
    const stay = (): void => {
      from = undefined;
      node.style.removeProperty('translate');
    };
    const begin = (event: TouchEvent): void => {
      // A second finger cancels the swipe.
      stay();
      const { length, 0: touch } = event.touches;
      const isFree = length === 1 && !holdsFinger(event.target as Element, node);
      from = isFree ? { x: touch!.clientX, y: touch!.clientY, at: event.timeStamp, moves: false } : undefined;
    };
    const move = (event: TouchEvent): void => {
      if (!from) return;
      const way = wayOf(event);
      if (!from.moves) {
        const aside = Math.abs(event.changedTouches[0]!.clientX - from.x);
        if (way === 0 && aside === 0) return;
        // The first movement decides: an upward or sideways movement belongs to the content.
        if (way <= aside) from = undefined;
        if (!from) return;
        from.moves = true;
      }
      if (event.cancelable) event.preventDefault();
      node.style.translate = `0 ${Math.max(0, way)}px`;
    };
    const end = (event: TouchEvent): void => {
      if (!from?.moves) return;
      const way = wayOf(event);
      const goes =
        event.type === 'touchend' &&
        (way > enough.way || (way > 24 && way / (event.timeStamp - from.at) > enough.pace));
      from = undefined;
      const motion = node.animate(
        [{ translate: `0 ${Math.max(0, way)}px` }, { translate: goes ? '0 100%' : '0 0' }],
        { duration: canAnimate() ? 160 : 0, easing: 'ease-out', fill: goes ? 'forwards' : 'none' },
      );
      node.style.removeProperty('translate');
      motion.onfinish = () => {
        if (!goes) return;
        flushSync(away);
        // If closing needs confirmation, shows the sheet again.
        requestAnimationFrame(() => motion.cancel());
      };
    };
    node.addEventListener('touchstart', begin, { passive: true });
    node.addEventListener('touchmove', move, { passive: false });
    node.addEventListener('touchend', end);
    node.addEventListener('touchcancel', end);
    return () => {
      node.removeEventListener('touchstart', begin);
      node.removeEventListener('touchmove', move);
      node.removeEventListener('touchend', end);
      node.removeEventListener('touchcancel', end);
      stay();
    };
  }, [sheet, isOn]);
}

/** Whether a touch on `target` scrolls, drags, draws or slides instead of moving the sheet. */
function holdsFinger(target: Element, sheet: Element): boolean {
  for (let node: Element | null = target; node && node !== sheet; node = node.parentElement)
    if (
      node.scrollTop > 0 ||
      node.matches('form, input[type="range"], textarea, [contenteditable]') ||
      getComputedStyle(node).touchAction === 'none'
    )
      return true;
  return false;
}

/** Whether animations are allowed. They are not if the system asks for reduced motion. */
export const canAnimate = (): boolean => !matchMedia('(prefers-reduced-motion: reduce)').matches;
