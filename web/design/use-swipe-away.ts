import { type RefObject, useEffect, useEffectEvent } from 'react';
import { flushSync } from 'react-dom';
import { mayMove } from './motion.ts';

/** So far (px), or so fast (px a ms), and the sheet goes; less, and it comes back. */
const enough = { way: 96, pace: 0.5 } as const;

/**
 * Sends a sheet away that is swiped down: from anywhere in it but what is scrolled or has the finger itself
 * (`touch-action: none`, as what is dragged and drawn on has), and where it is a form from its head alone: what is typed is not
 * lost by a flick. `onAway` is called when it is out of sight.
 */
export function useSwipeAway(sheet: RefObject<HTMLElement | null>, isOn: boolean, onAway: () => void): void {
  const away = useEffectEvent(onAway);
  useEffect(() => {
    const node = sheet.current;
    if (!node || !isOn) return undefined;
    /** Where the finger came down, and whether it began to take the sheet along. */
    let from: { readonly x: number; readonly y: number; readonly at: number; moves: boolean } | undefined;
    const wayOf = (event: TouchEvent): number => event.changedTouches[0]!.clientY - (from?.y ?? 0);
    const stay = (): void => {
      from = undefined;
      node.style.removeProperty('translate');
    };
    const begin = (event: TouchEvent): void => {
      // A second finger ends what the first began.
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
        // The first way decides: up or aside is for what lies below the finger.
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
        { duration: mayMove() ? 160 : 0, easing: 'ease-out', fill: goes ? 'forwards' : 'none' },
      );
      node.style.removeProperty('translate');
      motion.onfinish = () => {
        if (!goes) return;
        flushSync(away);
        // What asks before it closes is there again.
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

/** Whether a finger on `target` does something else than move the sheet: it scrolls back, drags, draws or slides. */
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
