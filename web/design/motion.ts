/** Whether animations are allowed. They are not if the system asks for reduced motion. */
export const canAnimate = (): boolean => !matchMedia('(prefers-reduced-motion: reduce)').matches;
