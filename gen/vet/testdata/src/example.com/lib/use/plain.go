package use

func plain(err error) string { return err.Error() }
