/** Whether things may move; whoever asks their system for stillness has none of it. */
export const mayMove = (): boolean => !matchMedia('(prefers-reduced-motion: reduce)').matches;
