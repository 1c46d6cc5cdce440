/** A loop sleeps on it and is woken early. A ring while nobody sleeps is kept, so none is lost in between. */
export type Bell = {
  ring: () => void;
  /**
   * Returns at the next ring, at once when it rang since the last sleep, or after a time in milliseconds.
   * One sleeper at a time.
   * @param howLong is asked only when it has not rung.
   */
  sleep(howLong: () => Promise<number> | number): Promise<void>;
};

export function openBell(): Bell {
  let rang = false;
  let wakeUp = (): void => {};
  return {
    ring() {
      rang = true;
      wakeUp();
    },
    async sleep(howLong) {
      const ms = rang ? 0 : await howLong();
      if (!rang) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wakeUp = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rang = false;
    },
  };
}
