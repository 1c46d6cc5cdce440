// Runs before the first paint, so that the wrong theme does not flash. Must match shell/theme.ts.
const theme = localStorage.getItem('formloom.theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
