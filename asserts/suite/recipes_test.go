package suite

import "testing"

// Every value of the recipes reads, and prints back to one that reads the
// same.
func TestRecipesParse(t *testing.T) {
	book, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	if len(*book) < 50 {
		t.Errorf("%d recipes", len(*book))
	}
}
