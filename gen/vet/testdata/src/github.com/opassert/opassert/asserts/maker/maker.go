package maker

type Option func(*int)
