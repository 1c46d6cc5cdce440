/** The colors of stages. The console draws each as the chip of a tone. */
export const stageColors = ['gray', 'blue', 'green', 'yellow', 'red'] as const;
export type StageColor = (typeof stageColors)[number];

/** The columns of what the workspace does with submissions. Conditions name them like elements. */
export const workColumns = { stage: '$stage', assignee: '$assignee' } as const;

export const isWorkColumn = (id: string): boolean => id === workColumns.stage || id === workColumns.assignee;
