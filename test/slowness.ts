/**
 * How many times longer work takes on this machine now than it would alone: what the clock says beside the time of CPU,
 * of a short piece of work. A limit of time that a busy machine may break is multiplied by it.
 */
export function slowness(): number {
  const [start, before] = [performance.now(), process.cpuUsage()];
  let worked = 0;
  while (worked < 30) {
    const { user, system } = process.cpuUsage(before);
    worked = (user + system) / 1_000;
  }
  return Math.max(1, (performance.now() - start) / worked);
}

/** The milliseconds of CPU that a piece of work takes: they say how much there is to do, however busy the machine is. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
