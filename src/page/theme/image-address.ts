/** Returns the URL of a form's image (theme/routes.ts). */
export const imageAddress = (formId: string, imageId: string): string => `/f/${formId}/images/${imageId}`;
