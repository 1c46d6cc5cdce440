/**
 * Returns how many times longer work takes on this machine now than alone: the ratio of wall-clock to CPU
 * time of a short task. Time limits that a busy machine may exceed are multiplied by it.
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

/** Returns the CPU milliseconds of a task, which measure its work regardless of the machine's load. */
export function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
